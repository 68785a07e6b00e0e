// Where compiled functions live: the one place that knows which asmjit runtime is used.
//
// Context   any; several threads at once.
// Promises  code that was placed is ready to be called, and stays until it is released or the memory goes.
#pragma once

#include <asmjit/core.h>

#include <cstdint>
#include <string>

namespace nib {

using CodeMemory = asmjit::JitRuntime;

// Where a function comes from, for whoever must be told of new code.
struct CodeOrigin {
  std::string name;
  std::string file;  // absolute
  std::uint32_t first_line;
  std::uint32_t last_line;
};

// Null on failure.
inline void* place(CodeMemory& memory, asmjit::CodeHolder& code, [[maybe_unused]] const CodeOrigin& origin) {
  void* entry = nullptr;
  return memory.add(&entry, &code) == asmjit::kErrorOk ? entry : nullptr;
}

}  // namespace nib
