/* The smallest program that jits by LLVM 14's MCJIT: HOST FILE.bc [LIBRARY how]
 * It opens LLVM when it already runs: how = global, local, deep (RTLD_DEEPBIND). With -DLINKED it is a part
 * of it. Its exit code is that of the main function in the file. LLVM's headers are not needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* FUNCTION(returns, name, parameters), as LLVM's C interface declares them. */
#define FUNCTIONS                                                                                     \
  FUNCTION(int, LLVMCreateMemoryBufferWithContentsOfFile, (const char*, void** text, char** trouble)) \
  FUNCTION(int, LLVMParseBitcode2, (void* text, void** module))                                       \
  FUNCTION(int, LLVMCreateExecutionEngineForModule, (void** engine, void* module, char** trouble))    \
  FUNCTION(unsigned long, LLVMGetFunctionAddress, (void* engine, const char* name))                   \
  FUNCTION(void, LLVMLinkInMCJIT, (void))                                                             \
  FUNCTION(void, LLVMInitializeX86TargetInfo, (void))                                                 \
  FUNCTION(void, LLVMInitializeX86Target, (void))                                                     \
  FUNCTION(void, LLVMInitializeX86TargetMC, (void))                                                   \
  FUNCTION(void, LLVMInitializeX86AsmPrinter, (void))

#ifdef LINKED
#define FUNCTION(returns, name, parameters) returns name parameters;
FUNCTIONS
static int find_all(char** argv) {
  (void)argv;
  return 1;
}
#else
#define FUNCTION(returns, name, parameters) static returns(*name) parameters;
FUNCTIONS
#undef FUNCTION

static int flags_of(const char* how) {
  if (strcmp(how, "deep") == 0) return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  return RTLD_NOW | (strcmp(how, "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL);
}

static int find_all(char** argv) {
  void* const library = dlopen(argv[2], flags_of(argv[3]));
  if (library == NULL) return 0;
#define FUNCTION(returns, name, parameters)            \
  name = (returns(*) parameters)dlsym(library, #name); \
  if (name == NULL) return 0;
  FUNCTIONS
  return 1;
}
#endif

int main(int argc, char** argv) {
  void *text, *module, *engine;
  char* trouble = NULL;
  if (argc < 2 || !find_all(argv)) return 100;
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL || fclose(file) != 0) return 100;
  LLVMLinkInMCJIT();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &text, &trouble)) return 101;
  if (LLVMParseBitcode2(text, &module) || LLVMCreateExecutionEngineForModule(&engine, module, &trouble))
    return 102;
  return ((int (*)(int, char**))LLVMGetFunctionAddress(engine, "main"))(1, argv);
}
