/* What stack walkers see while return addresses are taken: libgcc's, LLVM's libunwind, each through its own
 * functions. From a traced function, and from a handler that interrupts one. Each has to see who called whom,
 * and nothing else but hooks. */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unwind.h>

#include "tests/host/native/subjects/subject.h"

enum { kMost = 128, kRepeats = 12 };

static void* g_walked[kMost];
static int g_count;

/* ---- The walkers ---- */

UNTRACED static void walk_by_backtrace(void) {
  g_count = backtrace(g_walked, kMost);
}

/* A frame is of the unwinder that gave it. */
typedef uintptr_t (*get_ip)(struct _Unwind_Context*);
UNTRACED static _Unwind_Reason_Code note(struct _Unwind_Context* frame, void* own_get_ip) {
  if (g_count < kMost) g_walked[g_count++] = (void*)((get_ip)own_get_ip)(frame);
  return _URC_NO_REASON;
}
UNTRACED static void walk_by_libgcc(void) {
  _Unwind_Backtrace(note, (void*)_Unwind_GetIP);
}

static void* g_llvm;
UNTRACED static void* of_llvm(const char* name) {
  void* const found = dlsym(g_llvm, name);
  EXPECT(found != NULL);
  return found;
}
UNTRACED static void walk_by_llvm_backtrace(void) {
  void (*const walk)(_Unwind_Trace_Fn, void*) =
      (void (*)(_Unwind_Trace_Fn, void*))of_llvm("_Unwind_Backtrace");
  walk(note, of_llvm("_Unwind_GetIP"));
}
UNTRACED static void walk_by_llvm_steps(void) {
  enum { kRip = -1, kWords = 512 };
  static uint64_t context[kWords], cursor[kWords];
  int (*const get_context)(void*) = (int (*)(void*))of_llvm("unw_getcontext");
  int (*const begin)(void*, void*) = (int (*)(void*, void*))of_llvm("unw_init_local");
  int (*const step)(void*) = (int (*)(void*))of_llvm("unw_step");
  int (*const get)(void*, int, uint64_t*) = (int (*)(void*, int, uint64_t*))of_llvm("unw_get_reg");
  EXPECT(get_context(context) == 0 && begin(cursor, context) == 0);
  while (step(cursor) > 0 && g_count < kMost) {
    uint64_t at = 0;
    EXPECT(get(cursor, kRip, &at) == 0);
    g_walked[g_count++] = (void*)at;
  }
}

/* ---- Who calls whom ---- */

static void (*g_walk)(void);

CALL int call_leaf(int x) {
  COUNT(call_leaf);
  g_walk();
  KEEP_FRAME;
  return x + 1;
}
CALL void call_handler(int number) {
  COUNT(call_handler);
  (void)number;
  call_leaf(1);
  KEEP_FRAME;
}
CALL int call_raiser(int x) {
  COUNT(call_raiser);
  raise(SIGUSR1);
  KEEP_FRAME;
  return x + 1;
}
CALL int call_repeated(int depth, int (*innermost)(int)) {
  COUNT(call_repeated);
  const int inside = depth == 0 ? innermost(depth) : call_repeated(depth - 1, innermost);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_outer(int (*innermost)(int)) {
  COUNT(call_outer);
  const int inside = call_repeated(kRepeats - 1, innermost);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED int main(int argc, char** argv);
void _start(void);
UNTRACED static const char* function_at(const void* at);
static const struct {
  const char* name;
  void* start;
} kFunctions[] = {{"leaf", (void*)call_leaf},
                  {"handler", (void*)call_handler},
                  {"raiser", (void*)call_raiser},
                  {"repeated", (void*)call_repeated},
                  {"outer", (void*)call_outer},
                  {"main", (void*)main},
                  {NULL, (void*)_start},
                  {NULL, (void*)walk_by_backtrace},
                  {NULL, (void*)note},
                  {NULL, (void*)walk_by_libgcc},
                  {NULL, (void*)walk_by_llvm_steps},
                  {NULL, (void*)walk_by_llvm_backtrace},
                  {NULL, (void*)function_at}};

/* The name of that of the functions above which it returns to; NULL: of none. */
UNTRACED static const char* function_at(const void* at) {
  enum { kLongest = 1024 };
  const char* found = NULL;
  uintptr_t nearest = kLongest;
  for (size_t i = 0; i < sizeof kFunctions / sizeof kFunctions[0]; ++i) {
    const uintptr_t inside = (uintptr_t)at - (uintptr_t)kFunctions[i].start;
    if (inside == 0 || inside >= nearest) continue;
    nearest = inside;
    found = kFunctions[i].name;
  }
  return found;
}

/* The names of what was walked, as "leaf repeated*12 outer main": what is of others is left out. */
UNTRACED static void expect_walked(const char* expected) {
  char text[512] = "";
  const char* last = "";
  int times = 0;
  for (int i = 0; i <= g_count; ++i) {
    const char* const name = i == g_count ? "" : function_at(g_walked[i]);
    if (name == NULL) continue;
    if (strcmp(name, last) == 0) {
      ++times;
      continue;
    }
    if (times > 1) sprintf(text + strlen(text), "*%d", times);
    sprintf(text + strlen(text), " %s", name);
    last = name;
    times = 1;
  }
  if (strncmp(text + 1, expected, strlen(expected)) != 0) {
    dprintf(2, "%s instead of %s\n", text, expected);
    fail(__LINE__);
  }
}

UNTRACED int main(int argc, char** argv) {
  static void (*const kWalkers[])(void) = {walk_by_backtrace, walk_by_libgcc, walk_by_llvm_backtrace,
                                           walk_by_llvm_steps};
  g_llvm = dlopen("libunwind.so.1", RTLD_NOW | RTLD_LOCAL);
  if (g_llvm == NULL) printf("skipped LLVM's libunwind is not installed\n");
  EXPECT(signal(SIGUSR1, call_handler) != SIG_ERR);
  const unsigned rounds = 5 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    for (int walker = 0; walker < (g_llvm == NULL ? 2 : 4); ++walker) {
      g_walk = kWalkers[walker];
      g_count = 0;
      EXPECT(call_outer(call_leaf) == kRepeats + 2);
      expect_walked("leaf repeated*12 outer main");
      g_count = 0;
      EXPECT(call_outer(call_raiser) == kRepeats + 2);
      expect_walked("leaf handler raiser repeated*12 outer main");
    }
  }
  tell_counts();
  return 0;
}
