// Sites in functions of a Compiler: at the entry, before each ret, and before each tail call's jump.
//
// Context   the thread that compiles.
// Promises  the register allocator has seen nothing of them: frames and allocation are as without.
#pragma once

#include <jitquill/asmjit/sled.hpp>

namespace jitquill {
namespace asmjit_detail {

class SitePass final : public asmjit::FuncPass {
 public:
#if ASMJIT_LIBRARY_VERSION >= 0x011200
  using Memory = asmjit::Arena&;
  SitePass(asmjit::BaseCompiler& compiler, SitePolicy policy) noexcept
      : FuncPass(compiler, "jitquill sites"), policy_(policy) {}
  asmjit::Error run_on_function(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#else
  using Memory = asmjit::Zone*;
  explicit SitePass(SitePolicy policy) noexcept : FuncPass("jitquill sites"), policy_(policy) {}
  asmjit::Error runOnFunction(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#endif
    if (!wants_sites(policy_)) return kNoError;
    asmjit::BaseCompiler& compiler = JITQUILL_ASMJIT(*cc(), cc());
    asmjit::BaseNode* const cursor = compiler.cursor();
    asmjit::BaseNode* const end = function->JITQUILL_ASMJIT(endNode, end_node)();
    const bool is_entered = mark_of(*function) != kContinuationMark;
    asmjit::Error error = is_entered ? put_behind(compiler, function, JITQUILL_SITE_ENTER) : kNoError;
    for (asmjit::BaseNode* node = function; error == kNoError && node != nullptr && node != end;
         node = node->next()) {
      if (const std::uint8_t kind = exit_kind(*node); kind != 0)
        error = put_behind(compiler, node->prev(), kind);
    }
    compiler.JITQUILL_ASMJIT(setCursor, set_cursor)(cursor);
    return error;
  }

 private:
  static std::uint8_t exit_kind(const asmjit::BaseNode& node) noexcept {
    if (!node.JITQUILL_ASMJIT(isInst, is_inst)()) return 0;
    if (mark_of(node) == kTailJumpMark) return JITQUILL_SITE_TAIL;
    const auto* inst = node.as<asmjit::InstNode>();
    return inst->JITQUILL_ASMJIT(realId, inst_id)() == Inst::kIdRet ? JITQUILL_SITE_LEAVE : 0;
  }
  static asmjit::Error put_behind(asmjit::BaseCompiler& compiler, asmjit::BaseNode* node, std::uint8_t kind) {
    SiteMark mark{};
    compiler.JITQUILL_ASMJIT(setCursor, set_cursor)(node);
    const asmjit::Error error = emit_sled(compiler, kind, mark);
    if (error == kNoError) set_mark(*compiler.cursor(), kSledMark + kind);
    return error;
  }

  SitePolicy policy_;
};

}  // namespace asmjit_detail

// As add_line_pass(); behind add_tail_pass(), so that its jumps get sites too.
inline asmjit::Error add_site_pass(asmjit::x86::Compiler& compiler,
                                   SitePolicy policy = SitePolicy::kWhenWanted) {
  if (compiler.code() == nullptr) return asmjit_detail::kNotAttached;
  return compiler.JITQUILL_ASMJIT(addPassT, add_pass)<asmjit_detail::SitePass>(policy);
}

}  // namespace jitquill
