#include "nib/lowering.hpp"

#include <string>
#include <utility>

namespace nib {

using asmjit::imm;
using asmjit::TypeId;
namespace x86 = asmjit::x86;

namespace {

// Every value is a 64-bit integer; bool is 0 or 1.
asmjit::FuncSignatureBuilder signature_of(const Function& function) {
  asmjit::FuncSignatureBuilder signature(asmjit::CallConvId::kHost);
  signature.setRet(function.result == Type::kNone ? TypeId::kVoid : TypeId::kInt64);
  for (std::uint32_t i = 0; i < function.parameter_count; ++i) signature.addArg(TypeId::kInt64);
  return signature;
}

template <class F>
std::uint64_t address_of(F* function) noexcept {
  return reinterpret_cast<std::uint64_t>(function);
}

}  // namespace

FunctionLowering::FunctionLowering(x86::Compiler& compiler, LoweringContext& context,
                                   const Function& function)
    : cc_(compiler), context_(context), function_(function) {}

asmjit::FuncNode* FunctionLowering::run() {
  asmjit::FuncNode* node = cc_.addFunc(signature_of(function_));
  if (node == nullptr) return nullptr;
  for (std::size_t i = 0; i < function_.variables.size(); ++i) variables_.push_back(cc_.newInt64());
  for (std::uint32_t i = 0; i < function_.parameter_count; ++i) node->setArg(i, variables_[i]);
  mark(function_.at.line);
  check_stack();
  block(function_.body);
  if (!function_.body.is_final) {
    mark(function_.end.line);
    cc_.ret();
  }
  // What is put off may put off more.
  for (std::size_t i = 0; i < later_.size(); ++i) std::exchange(later_[i], nullptr)();
  cc_.endFunc();
  return node;
}

// ---- Markers and faults ----

void FunctionLowering::mark(std::uint32_t line) {
  cc_.comment(("@" + std::to_string(line)).c_str());
  line_ = line;
}

void FunctionLowering::mark_if_new(std::uint32_t line) {
  if (line != line_) mark(line);
}

FunctionLowering::Label FunctionLowering::fault(Fault kind, Position at, std::string_view text) {
  const FaultSite* site = &context_.faults.emplace_back(
      FaultSite{.fault = kind, .at = at, .function = function_.name, .text = text});
  const Label label = cc_.newLabel();
  later([this, site, label] {
    cc_.bind(label);
    mark(site->at.line);
    asmjit::InvokeNode* call = nullptr;
    cc_.invoke(&call, imm(address_of(&nib_fail)), asmjit::FuncSignatureT<void, const void*>());
    if (call != nullptr) call->setArg(0, imm(reinterpret_cast<std::uint64_t>(site)));
    // nib_fail does not return, but the register allocator must not see a way into the next block.
    cc_.ret();
  });
  return label;
}

// Behind the prolog, so the frame is counted. fs: one instruction, and every thread has its own limit.
void FunctionLowering::check_stack() {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{stack_limit_offset()});
  x86::Mem limit = x86::ptr_abs(offset, sizeof(std::uint64_t));
  limit.setSegment(x86::fs);
  cc_.cmp(x86::rsp, limit);
  cc_.jb(fault(Fault::kStackOverflow, function_.at));
}

// ---- Statements ----

void FunctionLowering::block(const Block& block) {
  for (const Statement& each : block.statements) {
    if (!std::holds_alternative<Block>(each.node)) mark(each.at.line);
    std::visit([this](const auto& node) { statement(node); }, each.node);
    if (each.is_final) return;  // what follows can never run
  }
}

void FunctionLowering::statement(const Block& node) {
  block(node);
}

void FunctionLowering::statement(const Declaration& node) {
  value_to(*node.value, variables_[node.variable]);
}

void FunctionLowering::statement(const Assignment& node) {
  value_to(*node.value, variables_[node.variable]);
}

void FunctionLowering::statement(const CallStatement& node) {
  invoke(std::get<Call>(node.call->node), node.call->at);
}

void FunctionLowering::statement(const Print& node) {
  const Value printed = value(*node.value);
  const auto function = node.value->type == Type::kBool ? &nib_print_bool : &nib_print_int;
  asmjit::InvokeNode* call = nullptr;
  cc_.invoke(&call, imm(address_of(function)), asmjit::FuncSignatureT<void, std::int64_t>());
  if (call == nullptr) return;
  if (printed.is_constant()) {
    call->setArg(0, imm(printed.constant));
  } else {
    call->setArg(0, printed.reg);
  }
}

void FunctionLowering::statement(const If& node) {
  const Label end = cc_.newLabel();
  for (const Branch& each : node.branches) {
    const bool is_last = &each == &node.branches.back() && node.otherwise.statements.empty();
    const Label next = is_last ? end : cc_.newLabel();
    mark_if_new(each.condition->at.line);
    branch(*each.condition, false, next);
    block(each.body);
    if (is_last) break;
    if (!each.body.is_final) cc_.jmp(end);
    cc_.bind(next);
  }
  block(node.otherwise);
  cc_.bind(end);
}

// Tested at the bottom: one taken jump per round.
void FunctionLowering::statement(const While& node) {
  const Loop loop{.next = cc_.newLabel(), .end = cc_.newLabel()};
  const Label body = cc_.newLabel();
  cc_.jmp(loop.next);
  cc_.align(asmjit::AlignMode::kCode, 16);
  cc_.bind(body);
  loops_.push_back(loop);
  block(node.body);
  loops_.pop_back();
  cc_.bind(loop.next);
  mark(node.condition->at.line);
  branch(*node.condition, true, body);
  cc_.bind(loop.end);
}

void FunctionLowering::statement(const Return& node) {
  if (node.value == nullptr) {
    cc_.ret();
  } else {
    cc_.ret(in_register(value(*node.value)));
  }
}

void FunctionLowering::statement(const Fail& node) {
  cc_.jmp(fault(Fault::kFailed, node.at, node.text));
}

void FunctionLowering::statement(const Break&) {
  cc_.jmp(loops_.back().end);
}

void FunctionLowering::statement(const Continue&) {
  cc_.jmp(loops_.back().next);
}

}  // namespace nib
