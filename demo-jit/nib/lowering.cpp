#include "nib/lowering.hpp"

#include <jitquill/asmjit/tail_pass.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace nib {

namespace x86 = asmjit::x86;

FunctionLowering::FunctionLowering(x86::Compiler& compiler, LoweringContext& context,
                                   const Function& function)
    : cc_(compiler), context_(context), function_(function) {}

asmjit::FuncNode* FunctionLowering::run() {
  asmjit::FuncNode* node = cc_.addFunc(signature_of(function_));
  if (node == nullptr) return nullptr;
  for (const Variable& each : function_.variables) variables_.push_back(new_register(each.type));
  for (std::uint32_t i = 0; i < function_.parameter_count; ++i) node->setArg(i, variables_[i]);
  site_register_ = cc_.newUIntPtr();
  entry_ = cc_.cursor();
  for (const Variable& each : function_.variables)
    slots_.push_back(each.type.is_reference() ? new_slot() : 0);
  if (has_frame()) frame_ = cc_.newStack(sizeof(Frame), sizeof(std::int64_t));
  mark(function_.at.line);
  if (function_.may_collect) poll(&fault_site(Fault::kStackOverflow, function_.at), function_.at.line);
  block(function_.body);
  if (!function_.body.is_final) {
    mark(function_.end.line);
    leave_frame();
    cc_.ret();
  }
  // What is put off may put off more.
  for (std::size_t i = 0; i < later_.size(); ++i) std::exchange(later_[i], nullptr)();
  enter_frame();
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

const FaultSite& FunctionLowering::fault_site(Fault kind, Position at, std::string_view text) {
  return context_.faults.emplace_back(
      FaultSite{.fault = kind, .at = at, .function = function_.name, .text = text});
}

FunctionLowering::Label FunctionLowering::fault(const FaultSite& site, std::optional<FaultValues> values) {
  const Label label = cc_.newLabel();
  later([this, &site, values, label] {
    cc_.bind(label);
    mark(site.at.line);
    move(site_register_, constant(site));
    if (values) {
      call_runtime(&nib_fail_with,
                   {temporary(site_register_), temporary(values->first), temporary(values->second)});
    } else {
      call_runtime(&nib_fail, {temporary(site_register_)});
    }
    // nib_fail does not return, but the register allocator must not see a way into the next block.
    cc_.ret();
  });
  return label;
}

// Behind the prolog, so the frame is counted. fs: one instruction, and every thread has its own limit. The
// call is one that keeps all registers: else every variable of a loop would live in memory because of it.
void FunctionLowering::poll(const FaultSite* site, std::uint32_t line) {
  const Label called = cc_.newLabel();
  const Label done = cc_.newLabel();
  cc_.cmp(x86::rsp, thread_word(offsetof(ThreadWords, stack_limit)));
  cc_.jb(called);
  cc_.bind(done);
  later([this, site, line, called, done] {
    cc_.bind(called);
    mark(line);
    asmjit::InvokeNode* const call =
        call_runtime(&nib_poll_keeping_registers, {constant(reinterpret_cast<std::int64_t>(site))});
    for (const auto group : {asmjit::RegGroup::kGp, asmjit::RegGroup::kVec})
      if (call != nullptr) call->detail()._callConv.setPreservedRegs(group, 0xffff);
    cc_.jmp(done);
  });
}

// ---- Statements ----

void FunctionLowering::block(const Block& block) {
  for (const Statement& each : block.statements) {
    const std::uint32_t outer_slots = used_slots_;
    if (!std::holds_alternative<Block>(each.node)) mark(each.at.line);
    std::visit([this](const auto& node) { statement(node); }, each.node);
    used_slots_ = outer_slots;
    if (each.is_final) return;  // what follows can never run
  }
}

void FunctionLowering::statement(const Block& node) {
  block(node);
}

void FunctionLowering::statement(const Declaration& node) {
  assign(node.variable, *node.value);
}

void FunctionLowering::statement(const Assignment& node) {
  assign(node.variable, *node.value);
}

void FunctionLowering::assign(std::uint32_t variable, const Expression& expression) {
  const Reg& reg = variables_[variable];
  value_to(expression, reg);
  if (expression.type.is_reference() && has_frame()) cc_.mov(frame_word(slots_[variable]), reg.as<Gp>());
}

void FunctionLowering::statement(const CallStatement& node) {
  const auto* call = std::get_if<Call>(&node.call->node);
  if (call != nullptr && !call->is_record) {
    invoke(*call, node.call->at);
  } else {
    value(*node.call);
  }
}

void FunctionLowering::statement(const Print& node) {
  const Value printed = value(*node.value);
  const Type type = node.value->type;
  if (type == Type::kFloat) {
    call_runtime(&nib_print_float, {printed});
  } else if (type == Type::kStr) {
    call_runtime(&nib_print_str, {printed});
  } else {
    call_runtime(type == Type::kBool ? &nib_print_bool : &nib_print_int, {printed});
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
  poll(nullptr, node.condition->at.line);
  branch(*node.condition, true, body);
  cc_.bind(loop.end);
}

void FunctionLowering::statement(const Return& node) {
  if (node.value == nullptr) {
    leave_frame();
    cc_.ret();
    return;
  }
  if (const auto* call = std::get_if<Call>(&node.value->node); call != nullptr && !call->is_record) {
    asmjit::InvokeNode* const invoked = invoke(*call, node.value->at, true);
    jitquill::mark_tail_call(invoked);
    cc_.ret(result_of(invoked, node.value->type, Reg()).reg);
    return;
  }
  const Value result = value(*node.value);
  const Reg reg = result.is_float ? Reg(in_xmm(result)) : Reg(in_register(result));
  leave_frame();
  cc_.ret(reg);
}

void FunctionLowering::statement(const Fail& node) {
  cc_.jmp(fault(fault_site(Fault::kFailed, node.at, node.text)));
}

void FunctionLowering::statement(const Break&) {
  cc_.jmp(loops_.back().end);
}

void FunctionLowering::statement(const Continue&) {
  cc_.jmp(loops_.back().next);
}

}  // namespace nib
