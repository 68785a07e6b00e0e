// The second tier's better code: bodies of small functions in place of calls, and lengths of arrays in
// registers.
#include <algorithm>
#include <cstddef>

#include "nib/lowering.hpp"

namespace nib {

namespace x86 = asmjit::x86;

namespace {

// Expressions of a function that is inlined, and of all that are inlined in one function.
constexpr std::uint32_t kMostInlined = 40;
constexpr std::uint32_t kMostInAll = 400;

}  // namespace

// Not what is being inlined already; nor what needs a frame where there is none; nor what calls in the place
// of a return, which takes no stack.
bool FunctionLowering::is_inlined(const Call& node) const noexcept {
  const Function& callee = context_.program.functions[node.target];
  if (!context_.inlines || callee.size > kMostInlined || inlined_size_ + callee.size > kMostInAll)
    return false;
  if (callee.has_tail_call || (callee.has_references && callee.may_collect && !has_frame())) return false;
  if (&callee == &root_) return false;
  for (const Inlining* each = &inlining_; each != nullptr; each = each->outer)
    if (each->function == &callee) return false;
  return true;
}

FunctionLowering::Value FunctionLowering::inlined(const Call& node, Position at, const Reg& wanted) {
  const Function& callee = context_.program.functions[node.target];
  const std::vector<Value> arguments = values_of(node.arguments, callee.may_collect);
  const auto caller = static_cast<std::int32_t>(position_at(at.line));
  inlined_size_ += callee.size;
  Inlining outer = std::move(inlining_);
  inlining_ = {.function = &callee, .caller = caller, .outer = &outer, .end = cc_.newLabel()};
  if (callee.result != Type::kNone)
    inlining_.result = wanted.isValid() ? wanted : new_register(callee.result);
  bind_parameters(callee, arguments);
  block(callee.body);
  cc_.bind(inlining_.end);
  const Reg result = inlining_.result;
  inlining_ = std::move(outer);
  mark(at.line);
  return callee.result == Type::kNone ? constant(0) : temporary(result);
}

// A parameter that stays what it is can be the argument's own register, which stays what it is too: the
// caller keeps it known to the collector.
void FunctionLowering::bind_parameters(const Function& callee, std::span<const Value> arguments) {
  for (std::size_t i = 0; i < callee.variables.size(); ++i) {
    const Variable& variable = callee.variables[i];
    const bool is_parameter = i < callee.parameter_count;
    if (is_parameter && !variable.is_assigned && !arguments[i].is_constant()) {
      inlining_.variables.push_back(arguments[i].reg);
      inlining_.slots.push_back(0);
      continue;
    }
    const Reg reg = new_register(variable.type);
    const bool has_slot = variable.type.is_reference() && has_frame();
    inlining_.variables.push_back(reg);
    inlining_.slots.push_back(has_slot ? new_slot() : 0);
    if (!is_parameter) continue;
    move(reg, arguments[i]);
    if (has_slot) cc_.mov(frame_word(inlining_.slots.back()), reg.as<Gp>());
  }
}

void FunctionLowering::leave_inlined(const Return& node) {
  if (node.value != nullptr) value_to(*node.value, inlining_.result);
  const Statement& last = inlining_.function->body.statements.back();
  if (std::get_if<Return>(&last.node) != &node) cc_.jmp(inlining_.end);
}

// ---- What was inlined where ----

std::size_t FunctionLowering::position_at(std::uint32_t line) {
  const InlinePosition position{inlining_.caller, line, inlining_.function};
  const auto found = std::find(positions_.begin(), positions_.end(), position);
  const auto index = static_cast<std::size_t>(found - positions_.begin());
  if (found == positions_.end()) positions_.push_back(position);
  return index;
}

std::span<const InlinePosition> FunctionLowering::positions() const noexcept {
  const bool has_inlined = std::any_of(positions_.begin(), positions_.end(),
                                       [](const InlinePosition& each) { return each.caller >= 0; });
  return has_inlined ? std::span<const InlinePosition>(positions_) : std::span<const InlinePosition>();
}

// ---- Lengths ----

bool FunctionLowering::has_known_length(const Variable& variable) const noexcept {
  return form_.tier == Tier::kSecond && !variable.is_assigned &&
         (variable.type.is_array() || variable.type == Type::kStr);
}

// Arrays never change their length, and this one stays in its register.
void FunctionLowering::know_length(const Reg& array, const Variable& variable) {
  if (!has_known_length(variable)) return;
  const Gp length = lengths_.try_emplace(array.id(), cc_.newInt64()).first->second;
  cc_.mov(length, x86::qword_ptr(array.as<Gp>(), offsetof(Array, length)));
}

}  // namespace nib
