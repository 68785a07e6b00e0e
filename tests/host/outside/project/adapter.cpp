// A runtime that uses asmjit and says so in one line: add_1, add_2 and add_3.
#include <asmjit/asmjit.h>
#include <jitquill/asmjit.hpp>

#include <cstdio>
#include <string>

namespace {

using Function = int (*)(int);

Function compile(jitquill::JitRuntime& runtime, int n) {
  asmjit::CodeHolder code;
  code.init(runtime.environment());
  asmjit::x86::Assembler assembler(&code);
  assembler.lea(asmjit::x86::eax, asmjit::x86::ptr(asmjit::x86::rdi, n));
  assembler.ret();
  const std::string name = "add_" + std::to_string(n);
  Function function = nullptr;
  const asmjit::Error error = runtime.add(&function, &code, jitquill::Announcement{.name = name.c_str()});
  return error == asmjit::kErrorOk ? function : nullptr;
}

}  // namespace

int main() {
  jitquill::JitRuntime runtime;
  int result = 0;
  for (int n = 1; n <= 3; ++n) {
    const Function add = compile(runtime, n);
    if (add == nullptr) return 1;
    result = add(result);
  }
  std::printf("result %d\n", result);
  return 0;
}
