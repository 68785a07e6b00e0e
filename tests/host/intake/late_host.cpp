// A program that opens a JIT when it already runs: LIBRARY, which has a GDB JIT interface of its own and was
// given RTLD_LOCAL, as Python gives libLLVM. It has an interface itself, too.
#include <dlfcn.h>

#include <cstdio>

#include "tests/host/intake/jit.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Jit& jit = *new Jit;  // what it registered outlives main, as debuggers expect
  const Code own = jit.make("of_the_program");
  own.expect();
  jit.add(own.symfile());

  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 3;
  auto* const run = reinterpret_cast<void (*)()>(dlsym(library, "run_late_jit"));
  if (run == nullptr) return 3;
  run();

  const Code more = jit.make("of_the_program_again");
  more.expect();
  jit.add(more.symfile());
  std::puts("done");
  return 7;
}
