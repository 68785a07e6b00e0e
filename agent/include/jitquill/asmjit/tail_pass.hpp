// Tail calls of a Compiler's functions, which asmjit has none of: a call whose result is returned as it is
// becomes the epilog and a jump.
//
//     cc.invoke(&call, target, signature);      // arguments and result as always
//     jitquill::mark_tail_call(call);
//     cc.ret(result);                           // directly behind it
//     ...
//     jitquill::add_tail_pass(cc);              // once, before finalize()
//
// A transfer is a tail call within one call of a function: from one version of its code to another one, a
// continuation, which returns in its place.
//
// Context   the thread that compiles.
// Promises  a marked call that cannot be a jump stays a call: it has stack arguments or variable ones, or
//           something lies between it and the return.
// Does not  know whether an argument points into the frame: don't mark such calls.
#pragma once

#include <jitquill/asmjit/sled.hpp>

namespace jitquill {
namespace asmjit_detail {

class TailPass final : public asmjit::FuncPass {
 public:
#if ASMJIT_LIBRARY_VERSION >= 0x011200
  using Memory = asmjit::Arena&;
  explicit TailPass(asmjit::BaseCompiler& compiler) noexcept : FuncPass(compiler, "jitquill tail calls") {}
  asmjit::Error run_on_function(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#else
  using Memory = asmjit::Zone*;
  TailPass() noexcept : FuncPass("jitquill tail calls") {}
  asmjit::Error runOnFunction(Memory, asmjit::Logger*, asmjit::FuncNode* function) override {
#endif
    asmjit::BaseCompiler& compiler = JITQUILL_ASMJIT(*cc(), cc());
    asmjit::BaseNode* const cursor = compiler.cursor();
    asmjit::BaseNode* const end = function->JITQUILL_ASMJIT(endNode, end_node)();
    asmjit::Error error = kNoError;
    for (asmjit::BaseNode* node = function; error == kNoError && node != nullptr && node != end;
         node = node->next()) {
      const std::int64_t mark = mark_of(*node);
      const bool is_marked = mark == kTailCallMark || mark == kTransferMark;
      if (!node->JITQUILL_ASMJIT(isInvoke, is_invoke)() || !is_marked) continue;
      compiler.JITQUILL_ASMJIT(setCursor, set_cursor)(node);
      error = convert(compiler, *function, *node->as<asmjit::InvokeNode>());
      node = compiler.cursor();  // the call, or the jump in its place
    }
    compiler.JITQUILL_ASMJIT(setCursor, set_cursor)(cursor);
    return error;
  }

 private:
  // The jump to the epilog that the return became, or the epilog itself; null: something else comes first.
  // `is_dead`: nothing but the call leads there.
  static asmjit::BaseNode* return_behind(const asmjit::FuncNode& function, const asmjit::InvokeNode& call,
                                         bool& is_dead) noexcept {
    is_dead = true;
    asmjit::BaseNode* node = call.next();
    for (; node != nullptr; node = node->next()) {
      if (node == function.JITQUILL_ASMJIT(exitNode, exit_node)()) return node;
      if (node->type() == asmjit::NodeType::kLabel) is_dead = false;
      const bool is_code = node->type() != asmjit::NodeType::kLabel &&
                           node->type() != asmjit::NodeType::kComment &&
                           node->type() != asmjit::NodeType::kFuncRet;
      if (is_code) break;
    }
    if (node == nullptr || !node->JITQUILL_ASMJIT(isInst, is_inst)()) return nullptr;
    const auto* jump = node->as<asmjit::InstNode>();
    const asmjit::Operand_& target = jump->JITQUILL_ASMJIT(operands, operands_data)()[0];
    const bool is_return = jump->JITQUILL_ASMJIT(realId, inst_id)() == Inst::kIdJmp &&
                           target.JITQUILL_ASMJIT(isLabel, is_label)() &&
                           target.id() == function.JITQUILL_ASMJIT(exitLabel, exit_label)().id();
    return is_return ? node : nullptr;
  }

  static asmjit::Error convert(asmjit::BaseCompiler& compiler, asmjit::FuncNode& function,
                               asmjit::InvokeNode& call) {
    bool is_dead = false;
    asmjit::BaseNode* const behind = return_behind(function, call, is_dead);
    const asmjit::FuncDetail& detail = call.detail();
    if (behind == nullptr || detail.JITQUILL_ASMJIT(argStackSize, arg_stack_size)() != 0 ||
        detail.JITQUILL_ASMJIT(hasVarArgs, has_var_args)())
      return kNoError;
    compiler.JITQUILL_ASMJIT(setCursor, set_cursor)(call.prev());
    asmjit::Operand target = call.target();
    asmjit::Error error = load_target(compiler, target);
    if (error != kNoError) return error;
    error = compiler.JITQUILL_ASMJIT(emitEpilog, emit_epilog)(function.frame());
    if (error != kNoError) return error;
    compiler.JITQUILL_ASMJIT(removeNode, remove_node)(compiler.cursor());  // its ret
    error = compiler.emit(Inst::kIdJmp, target);
    if (error != kNoError) return error;
    if (mark_of(call) == kTailCallMark) set_mark(*compiler.cursor(), kTailJumpMark);
    compiler.JITQUILL_ASMJIT(removeNode, remove_node)(&call);
    // Dead code has no known frame.
    if (is_dead && behind != function.JITQUILL_ASMJIT(exitNode, exit_node)())
      compiler.JITQUILL_ASMJIT(removeNode, remove_node)(behind);
    return kNoError;
  }

  // Before the epilog, which gives registers back, and a site, whose hook keeps all but r10 and r11: in rax,
  // in which no argument is.
  static asmjit::Error load_target(asmjit::BaseCompiler& compiler, asmjit::Operand& target) {
    if (target.JITQUILL_ASMJIT(isImm, is_imm)() || target.JITQUILL_ASMJIT(isLabel, is_label)())
      return kNoError;
    if (target.JITQUILL_ASMJIT(isMem, is_mem)())
      target.as<asmjit::x86::Mem>().JITQUILL_ASMJIT(setSize, set_size)(8);
    const asmjit::Error error = compiler.emit(Inst::kIdMov, asmjit::x86::rax, target);
    target = asmjit::x86::rax;
    return error;
  }
};

}  // namespace asmjit_detail

// The call is to become a jump, if the return of its result, or of nothing, comes directly behind it.
inline void mark_tail_call(asmjit::InvokeNode* call) noexcept {
  if (call != nullptr) asmjit_detail::set_mark(*call, asmjit_detail::kTailCallMark);
}

// The same, of a call that goes on in a continuation: the trace of calls sees neither the jump nor its
// target.
inline void mark_transfer(asmjit::InvokeNode* call) noexcept {
  if (call != nullptr) asmjit_detail::set_mark(*call, asmjit_detail::kTransferMark);
}

// The function is entered by transfers only: it has no site at its entry, and those at its exits close the
// call that was entered in the other code.
inline void mark_continuation(asmjit::FuncNode* function) noexcept {
  if (function != nullptr) asmjit_detail::set_mark(*function, asmjit_detail::kContinuationMark);
}

// As add_line_pass().
inline asmjit::Error add_tail_pass(asmjit::x86::Compiler& compiler) {
  if (compiler.code() == nullptr) return asmjit_detail::kNotAttached;
  return compiler.JITQUILL_ASMJIT(addPassT, add_pass)<asmjit_detail::TailPass>();
}

}  // namespace jitquill
