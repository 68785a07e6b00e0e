// Where compiled functions live, and where the agent is told of them: the one place that knows which runtime
// is used.
//
// Context   any; several threads at once.
// Promises  code that was placed is ready to be called, and stays until it is released or the memory goes.
#pragma once

#include <asmjit/core.h>
#include <jitquill/asmjit.hpp>

#include <cstdint>
#include <string>

namespace nib {

using CodeMemory = jitquill::JitRuntime;  // asmjit's, but for what it tells the agent

// Where a function comes from, for whoever must be told of new code.
struct CodeOrigin {
  std::string name;
  std::string file;  // absolute
  std::uint32_t first_line;
  std::uint32_t last_line;
};

// Null on failure.
inline void* place(CodeMemory& memory, asmjit::CodeHolder& code, const CodeOrigin& origin) {
  const jitquill::Announcement announcement{.name = origin.name.c_str(),
                                            .file = origin.file.c_str(),
                                            .first_line = origin.first_line,
                                            .last_line = origin.last_line};
  void* entry = nullptr;
  return memory.add(&entry, &code, announcement) == asmjit::kErrorOk ? entry : nullptr;
}

}  // namespace nib
