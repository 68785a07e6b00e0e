// A program that opens a JIT when it already runs: LIBRARY, which has a GDB JIT interface of its own and is
// given RTLD_LOCAL, as Python gives libLLVM; or, by the name in DEEP, RTLD_DEEPBIND too, as PHP gives its
// extensions: what the library calls then does not come by us, and the program itself has to be the one that
// does something. It has an interface itself, too.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/host/intake/jit.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Jit& jit = *new Jit;  // what it registered outlives main, as debuggers expect
  const Code own = jit.make("of_the_program");
  own.expect();
  jit.add(own.symfile());

  const char* const deep = std::getenv("DEEP");
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (deep != nullptr ? RTLD_DEEPBIND : 0));
  if (library == nullptr) return 3;
  if (deep != nullptr) std::fclose(std::fopen(deep, "r"));
  auto* const run = reinterpret_cast<void (*)()>(dlsym(library, "run_late_jit"));
  if (run == nullptr) return 3;
  run();

  const Code more = jit.make("of_the_program_again");
  more.expect();
  jit.add(more.symfile());
  std::puts("done");
  return 7;
}
