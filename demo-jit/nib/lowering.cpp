#include "nib/lowering.hpp"

#include <jitquill/asmjit/tail_pass.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace nib {

namespace x86 = asmjit::x86;

FunctionLowering::FunctionLowering(x86::Compiler& compiler, LoweringContext& context,
                                   const Function& function, Form form)
    : cc_(compiler), context_(context), root_(function), form_(form), inlining_{.function = &function} {}

asmjit::FuncNode* FunctionLowering::run() {
  if (form_.entry == Form::Entry::kSpawn) return run_spawn_code();
  asmjit::FuncNode* const node = begin();
  if (node == nullptr) return nullptr;
  block(root_.body);
  if (!root_.body.is_final) {
    mark(root_.end.line);
    leave_frame();
    cc_.ret();
  }
  // What is put off may put off more.
  for (std::size_t i = 0; i < later_.size(); ++i) {
    const Later each = std::move(later_[i]);
    inlining_.function = each.function;
    inlining_.caller = each.caller;
    each.emit();
  }
  enter_frame();
  cc_.endFunc();
  return node;
}

// The entry: of a whole function its parameters and the look at the stack, of a continuation a jump.
asmjit::FuncNode* FunctionLowering::begin() {
  const bool is_whole = form_.entry == Form::Entry::kWhole;
  asmjit::FuncNode* const node = cc_.addFunc(signature_of(root_, is_whole));
  if (node == nullptr) return nullptr;
  for (const Variable& each : root_.variables) {
    inlining_.variables.push_back(new_register(each.type));
    inlining_.slots.push_back(each.type.is_reference() ? new_slot() : 0);
  }
  for (std::uint32_t i = 0; i < root_.parameter_count; ++i) {
    if (is_whole) node->setArg(i, inlining_.variables[i]);
    scope_.push_back(i);
  }
  entry_scope_ = scope_;
  site_register_ = cc_.newUIntPtr();
  entry_ = cc_.cursor();
  if (has_frame()) frame_ = cc_.newStack(sizeof(Frame), sizeof(std::int64_t));
  mark(root_.at.line);
  is_hot_ = is_whole;
  if (is_whole) {
    if (root_.may_collect) poll(&fault_site(Fault::kStackOverflow, root_.at), root_.at.line);
    count(0);
    for (const std::uint32_t each : scope_) know_length(inlining_.variables[each], root_.variables[each]);
  } else {
    for (const std::uint32_t each : scope_)
      if (has_known_length(root_.variables[each])) lengths_[inlining_.variables[each].id()] = cc_.newInt64();
    jitquill::mark_continuation(node);
    resume_ = cc_.newLabel();
    cc_.jmp(resume_);
  }
  return node;
}

// ---- Markers and faults ----

void FunctionLowering::mark(std::uint32_t line) {
  std::string text = "@" + std::to_string(line);
  if (context_.inlines) text += "#" + std::to_string(position_at(line));
  cc_.comment(text.c_str());
  line_ = line;
}

void FunctionLowering::mark_if_new(std::uint32_t line) {
  if (line != line_) mark(line);
}

const FaultSite& FunctionLowering::fault_site(Fault kind, Position at, std::string_view text) {
  const std::string_view function = inlining_.function->name;
  const auto made = context_.data.faults.try_emplace(
      {at, kind, function}, FaultSite{.fault = kind, .at = at, .function = function, .text = text});
  return made.first->second;
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

void FunctionLowering::keep_registers(asmjit::InvokeNode* call) {
  for (const auto group : {asmjit::RegGroup::kGp, asmjit::RegGroup::kVec})
    if (call != nullptr) call->detail()._callConv.setPreservedRegs(group, 0xffff);
}

// Behind the prolog, so the frame is counted. fs: one instruction, and every thread has its own limit.
void FunctionLowering::poll(const FaultSite* site, std::uint32_t line) {
  const Label called = cc_.newLabel();
  const Label done = cc_.newLabel();
  cc_.cmp(x86::rsp, thread_word(offsetof(ThreadWords, stack_limit)));
  cc_.jb(called);
  cc_.bind(done);
  later([this, site, line, called, done] {
    cc_.bind(called);
    mark(line);
    keep_registers(
        call_runtime(&nib_poll_keeping_registers, {constant(reinterpret_cast<std::int64_t>(site))}));
    cc_.jmp(done);
  });
}

// ---- Statements ----

void FunctionLowering::block(const Block& block) {
  const bool is_inner = inlining_.outer != nullptr;
  const bool is_resumed = !is_inner && form_.entry == Form::Entry::kBlock && block.number == form_.block;
  const bool was_hot = is_hot_;
  const std::size_t outer_scope = scope_.size();
  if (is_resumed) {
    entry_scope_ = scope_;
    is_hot_ = true;
    cc_.bind(resume_);
  }
  for (const Statement& each : block.statements) {
    const std::uint32_t outer_slots = used_slots_;
    if (!std::holds_alternative<Block>(each.node)) mark(each.at.line);
    std::visit([this](const auto& node) { statement(node); }, each.node);
    used_slots_ = outer_slots;
    if (each.is_final) break;  // what follows can never run
  }
  if (!is_inner) scope_.resize(outer_scope);
  is_hot_ = was_hot;
}

void FunctionLowering::statement(const Block& node) {
  block(node);
}

void FunctionLowering::statement(const Declaration& node) {
  assign(node.variable, *node.value);
  if (inlining_.outer == nullptr) scope_.push_back(node.variable);
  know_length(inlining_.variables[node.variable], inlining_.function->variables[node.variable]);
}

void FunctionLowering::statement(const Assignment& node) {
  assign(node.variable, *node.value);
}

void FunctionLowering::assign(std::uint32_t variable, const Expression& expression) {
  const Reg& reg = inlining_.variables[variable];
  value_to(expression, reg);
  if (expression.type.is_reference() && has_frame())
    cc_.mov(frame_word(inlining_.slots[variable]), reg.as<Gp>());
}

void FunctionLowering::statement(const CallStatement& node) {
  const auto* call = std::get_if<Call>(&node.call->node);
  if (call != nullptr && !call->is_record && !is_inlined(*call)) {
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
    if (is_left_out(each.body)) {
      branch(*each.condition, true, left_out(each.body));
    } else {
      branch(*each.condition, false, next);
      run_block_of_if(each.body);
      if (!is_last && !each.body.is_final) cc_.jmp(end);
    }
    if (!is_last) cc_.bind(next);
  }
  if (is_left_out(node.otherwise)) {
    cc_.jmp(left_out(node.otherwise));
  } else {
    run_block_of_if(node.otherwise);
  }
  cc_.bind(end);
}

// Tested at the bottom: one taken jump per round.
void FunctionLowering::statement(const While& node) {
  const Loop loop{.next = cc_.newLabel(), .end = cc_.newLabel()};
  const Label body = cc_.newLabel();
  cc_.jmp(loop.next);
  cc_.align(asmjit::AlignMode::kCode, 16);
  cc_.bind(body);
  count(node.body.number);
  inlining_.loops.push_back(loop);
  block(node.body);
  inlining_.loops.pop_back();
  cc_.bind(loop.next);
  mark(node.condition->at.line);
  poll(nullptr, node.condition->at.line);
  branch(*node.condition, true, body);
  cc_.bind(loop.end);
}

void FunctionLowering::statement(const Return& node) {
  if (inlining_.outer != nullptr) return leave_inlined(node);
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
  cc_.jmp(inlining_.loops.back().end);
}

void FunctionLowering::statement(const Continue&) {
  cc_.jmp(inlining_.loops.back().next);
}

}  // namespace nib
