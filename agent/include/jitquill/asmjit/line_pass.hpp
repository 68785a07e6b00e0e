// Source lines of Compiler code. The runtime writes cc.comment("@12") or ("@12:5") in front of a statement's
// instructions; the pass puts a label there when the registers are allocated. The code's bytes stay the same.
// "@12#3" says which row of Announcement::inline_positions it is, too.
//
// Context   the thread that compiles.
// Does not  work without finalize(), nor for comments that the Compiler drops as unreachable.
#pragma once

#include <jitquill/asmjit/emitter_notes.hpp>

namespace jitquill {
namespace asmjit_detail {

struct Marker {
  std::uint32_t line, column;
  std::uint32_t position;  // kNoPosition: none is said
};
inline constexpr std::uint32_t kNoPosition = UINT32_MAX;

// "@line", ":column" if there is one, "#position" if there is one. False: another comment.
inline bool parse_marker(const char* text, Marker& marker) noexcept {
  const auto number = [&text](std::uint32_t& value) {
    const char* first = text;
    std::uint64_t read = 0;
    for (; *text >= '0' && *text <= '9' && text - first < 10; ++text)
      read = read * 10 + static_cast<std::uint64_t>(*text - '0');
    value = static_cast<std::uint32_t>(read);
    return text != first && read <= UINT32_MAX;
  };
  marker = {0, 0, kNoPosition};
  if (text == nullptr || *text++ != '@' || !number(marker.line)) return false;
  if (*text == ':' && !number((++text, marker.column))) return false;
  if (*text == '#' && !number((++text, marker.position))) return false;
  return *text == '\0';
}

inline bool is_marker(const asmjit::BaseNode& node, Marker& marker) noexcept {
  return node.type() == asmjit::NodeType::kComment &&
         parse_marker(node.JITQUILL_ASMJIT(inlineComment, inline_comment)(), marker);
}

class LinePass final : public asmjit::FuncPass {
 public:
#if ASMJIT_LIBRARY_VERSION >= 0x011200
  using Memory = asmjit::Arena&;
  explicit LinePass(asmjit::BaseCompiler& compiler) noexcept : FuncPass(compiler, "jitquill lines") {}
  asmjit::Error run_on_function(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#else
  using Memory = asmjit::Zone*;
  LinePass() noexcept : FuncPass("jitquill lines") {}
  asmjit::Error runOnFunction(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#endif
    asmjit::BaseCompiler& compiler = JITQUILL_ASMJIT(*cc(), cc());
    Marker marker{};
    asmjit::BaseNode* const end = function->JITQUILL_ASMJIT(endNode, end_node)();
    for (asmjit::BaseNode* node = function; node != nullptr && node != end; node = node->next()) {
      if (!is_marker(*node, marker)) continue;
      asmjit::LabelNode* label = nullptr;
      const asmjit::Error error =
          compiler.JITQUILL_ASMJIT(newLabelNode, new_label_node)(JITQUILL_ASMJIT(&label, asmjit::Out(label)));
      if (error != kNoError) return error;
      compiler.JITQUILL_ASMJIT(addBefore, add_before)(label, node);
    }
    return kNoError;
  }
};

}  // namespace asmjit_detail

// Call it after each attach and before finalize(); a detached Compiler forgets its passes. asmjit owns the
// pass.
inline asmjit::Error add_line_pass(asmjit::x86::Compiler& compiler) {
  if (compiler.code() == nullptr)
    return asmjit_detail::kNotAttached;  // it must come behind asmjit's own pass
  return compiler.JITQUILL_ASMJIT(addPassT, add_pass)<asmjit_detail::LinePass>();
}

}  // namespace jitquill
