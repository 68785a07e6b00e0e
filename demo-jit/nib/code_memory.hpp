// Where compiled functions live, and where the agent is told of them: the one place that knows which runtime
// is used.
//
// Context   any; several threads at once.
// Promises  code that was placed is ready to be called, and stays until it is released or the memory goes.
#pragma once

#include <asmjit/core.h>
#include <jitquill/asmjit.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "nib/code_table.hpp"
#include "nib/stack_trace.hpp"

namespace nib {

using SitePolicy = jitquill::SitePolicy;

inline bool has_sites(SitePolicy policy) noexcept {
  return policy == SitePolicy::kAlways || (policy == SitePolicy::kWhenWanted && jitquill_wants_sites() != 0);
}

// A compiler whose functions have lines, tail calls, and sites as the policy says.
inline void prepare(asmjit::x86::Compiler& compiler, SitePolicy sites) {
  jitquill::add_line_pass(compiler);
  jitquill::add_tail_pass(compiler);
  jitquill::add_site_pass(compiler, sites);
}

// asmjit's memory; what the agent is told of the code is also kept in a table.
class CodeMemory : public jitquill::JitRuntime {
 public:
  CodeMemory() noexcept {
    set_register_unwinding(true);
    const bool has_agent = jitquill_status_text(JITQUILL_OK) != nullptr;
    if (has_agent) prepare_stack_traces();
  }
  const CodeTable& table() const noexcept { return table_; }
  // In bytes, with what is kept free behind code for its unwinding.
  std::size_t used() const noexcept { return allocator()->statistics().usedSize(); }
  std::size_t size_of(void* code) const noexcept {
    void *executable = nullptr, *writable = nullptr;
    std::size_t size = 0;
    return allocator()->query(code, &executable, &writable, &size) == asmjit::kErrorOk ? size : 0;
  }

 protected:
  // Out of memory: no trace of this function is worth more than the end of the process.
  void on_announced(const jitquill_code& code) noexcept override { table_.add(code); }
  void on_moved(const void* from, const void* to) noexcept override { table_.move(from, to); }
  asmjit::Error _release(void* function) noexcept override {
    table_.remove(function);
    return jitquill::JitRuntime::_release(function);
  }

 private:
  CodeTable table_;
};

// Where a function comes from, for whoever must be told of new code.
struct CodeOrigin {
  std::string name;
  std::string file;  // absolute
  std::uint32_t first_line;
  std::uint32_t last_line;
  bool may_move;
  std::vector<jitquill_inline_position> inlined;
  std::deque<std::string> names;  // that `inlined` points to
};

// Null on failure.
inline void* place(CodeMemory& memory, asmjit::CodeHolder& code, const CodeOrigin& origin) {
  const jitquill::Announcement announcement{.name = origin.name.c_str(),
                                            .file = origin.file.c_str(),
                                            .first_line = origin.first_line,
                                            .last_line = origin.last_line,
                                            .inline_positions = origin.inlined.data(),
                                            .inline_position_count = origin.inlined.size(),
                                            .may_move = origin.may_move};
  void* entry = nullptr;
  return memory.add(&entry, &code, announcement) == asmjit::kErrorOk ? entry : nullptr;
}

}  // namespace nib
