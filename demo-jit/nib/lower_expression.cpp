// Expressions, calls and conditions. Arithmetic is in lower_arithmetic.cpp.
#include <utility>

#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
using asmjit::TypeId;
namespace x86 = asmjit::x86;

namespace {

TypeId id_of(Type type) noexcept {
  if (type == Type::kNone) return TypeId::kVoid;
  return type == Type::kFloat ? TypeId::kFloat64 : TypeId::kInt64;
}

x86::CondCode condition_of(BinaryOperator op) noexcept {
  switch (op) {
    case BinaryOperator::kNotEqual:
      return x86::CondCode::kNE;
    case BinaryOperator::kLess:
      return x86::CondCode::kSignedLT;
    case BinaryOperator::kLessEqual:
      return x86::CondCode::kSignedLE;
    case BinaryOperator::kGreater:
      return x86::CondCode::kSignedGT;
    case BinaryOperator::kGreaterEqual:
      return x86::CondCode::kSignedGE;
    default:
      return x86::CondCode::kE;
  }
}

bool is_of_floats(const Binary& comparison) noexcept {
  return comparison.left->type == Type::kFloat;
}

const Binary* as_comparison(const Expression& expression) noexcept {
  const auto* binary = std::get_if<Binary>(&expression.node);
  const bool is = binary != nullptr && row_of(binary->op).precedence == kComparisonPrecedence;
  return is ? binary : nullptr;
}

// `and` or `or`.
const Binary* as_logic(const Expression& expression) noexcept {
  const auto* binary = std::get_if<Binary>(&expression.node);
  const bool is = binary != nullptr && row_of(binary->op).operands == Operands::kBool;
  return is ? binary : nullptr;
}

}  // namespace

FunctionLowering::Value FunctionLowering::value(const Expression& expression, const Reg& wanted) {
  if (as_comparison(expression) != nullptr || as_logic(expression) != nullptr) return truth_of(expression);
  return std::visit([&](const auto& node) { return value_of(node, expression.at, wanted); }, expression.node);
}

void FunctionLowering::value_to(const Expression& expression, const Reg& target) {
  const Value result = value(expression, target);
  if (!result.is_in(target)) move(target, result);
}

FunctionLowering::Value FunctionLowering::value_of(const IntLiteral& node, Position, const Reg&) {
  return constant(node.value);
}

FunctionLowering::Value FunctionLowering::value_of(const BoolLiteral& node, Position, const Reg&) {
  return constant(node.value ? 1 : 0);
}

FunctionLowering::Value FunctionLowering::value_of(const FloatLiteral& node, Position, const Reg&) {
  Value result = constant(std::bit_cast<std::int64_t>(node.value));
  result.is_float = true;
  return result;
}

FunctionLowering::Value FunctionLowering::value_of(const StrLiteral& node, Position, const Reg&) {
  const auto made = context_.data.strs.try_emplace(node.text.data(), node.text);
  return constant(reinterpret_cast<std::int64_t>(made.first->second.str()));
}

FunctionLowering::Value FunctionLowering::value_of(const NullLiteral&, Position, const Reg&) {
  return constant(0);
}

FunctionLowering::Value FunctionLowering::value_of(const VariableUse& node, Position, const Reg&) {
  const Reg& reg = inlining_.variables[node.variable];
  return {.kind = Value::Kind::kVariable, .reg = reg, .is_float = reg.isXmm()};
}

FunctionLowering::Value FunctionLowering::value_of(const Unary& node, Position at, const Reg& wanted) {
  const Value operand = value(*node.operand);
  mark_if_new(at.line);
  if (operand.is_float) return negated_float(operand);
  const Gp target = target_for(operand, constant(0), wanted);
  if (!operand.is_in(target)) move(target, operand);
  switch (node.op) {
    case UnaryOperator::kMinus:
      cc_.neg(target);
      cc_.jo(fault(Fault::kOverflow, at));
      break;
    case UnaryOperator::kBitNot:
      cc_.not_(target);
      break;
    case UnaryOperator::kNot:
      cc_.xor_(target, 1);
      break;
  }
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::value_of(const Binary& node, Position at, const Reg& wanted) {
  const Value left = held(value(*node.left), node.left->type, node.right->may_collect);
  const Value right = value(*node.right);
  mark_if_new(at.line);
  const Type type = node.left->type;
  if (type == Type::kFloat) return combine_floats(node.op, left, right, wanted);
  if (type == Type::kStr) {
    const Value site = constant(fault_site(Fault::kNoMemory, at));
    return result_of(call_runtime(&nib_concatenate, {site, left, right}), type, wanted);
  }
  return combine(node.op, left, right, at, wanted);
}

FunctionLowering::Value FunctionLowering::value_of(const Call& node, Position at, const Reg& wanted) {
  if (node.is_record) return new_record(node, at);
  if (is_inlined(node)) return inlined(node, at, wanted);
  return result_of(invoke(node, at), context_.program.functions[node.target].result, wanted);
}

FunctionLowering::Value FunctionLowering::result_of(asmjit::InvokeNode* call, Type type, const Reg& wanted) {
  const Reg result = wanted.isValid() ? wanted : new_register(type);
  if (call != nullptr) call->setRet(0, result);
  return temporary(result);
}

// Every value has 64 bits: bool is 0 or 1, what lies in the heap its address.
asmjit::FuncSignatureBuilder FunctionLowering::signature_of(const Function& function, bool is_whole) {
  asmjit::FuncSignatureBuilder signature(asmjit::CallConvId::kHost);
  signature.setRet(id_of(function.result));
  for (std::uint32_t i = 0; is_whole && i < function.parameter_count; ++i)
    signature.addArg(id_of(function.variables[i].type));
  return signature;
}

// Code for the arguments of a call comes before it.
void FunctionLowering::make_passable(std::span<Value> arguments) {
  for (Value& each : arguments)
    if (each.is_float && each.is_constant()) each = temporary(in_xmm(each));
}

// A call that could not be made is null: the emitter has reported it.
void FunctionLowering::set_arguments(asmjit::InvokeNode* call, std::span<const Value> arguments) {
  for (std::size_t i = 0; call != nullptr && i < arguments.size(); ++i) {
    if (arguments[i].is_constant()) {
      call->setArg(i, imm(arguments[i].constant));
    } else {
      call->setArg(i, arguments[i].reg);
    }
  }
}

std::vector<FunctionLowering::Value> FunctionLowering::values_of(const std::vector<ExpressionPtr>& nodes,
                                                                 bool then_collects) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bool collects = then_collects;
    for (std::size_t later = i + 1; later < nodes.size(); ++later)
      collects = collects || nodes[later]->may_collect;
    values.push_back(held(value(*nodes[i]), nodes[i]->type, collects));
  }
  return values;
}

// With `is_last` nothing of this function is needed any more but its arguments: the called one keeps
// references in its own frame.
asmjit::InvokeNode* FunctionLowering::invoke(const Call& node, Position at, bool is_last) {
  std::vector<Value> arguments = values_of(node.arguments, false);
  mark_if_new(at.line);
  make_passable(arguments);
  if (is_last) leave_frame();
  asmjit::InvokeNode* const call = invoke(node.target);
  set_arguments(call, arguments);
  return call;
}

asmjit::InvokeNode* FunctionLowering::invoke(std::uint32_t function) {
  const Gp slot = cc_.newUIntPtr();
  cc_.mov(slot, imm(reinterpret_cast<std::uint64_t>(context_.table + function)));
  asmjit::InvokeNode* call = nullptr;
  cc_.invoke(&call, x86::ptr(slot), signature_of(context_.program.functions[function]));
  return call;
}

// ---- Conditions ----

FunctionLowering::Value FunctionLowering::truth_of(const Expression& expression) {
  const Gp result = cc_.newInt64();
  if (const Binary* comparison = as_comparison(expression); comparison && !is_of_floats(*comparison)) {
    const x86::CondCode condition = compare(*comparison, expression.at);
    cc_.set(condition, result.r8());
    cc_.movzx(result.r32(), result.r8());
    return temporary(result);
  }
  const Label end = cc_.newLabel();
  move(result, constant(0));
  branch(expression, false, end);
  move(result, constant(1));
  cc_.bind(end);
  return temporary(result);
}

x86::CondCode FunctionLowering::compare(const Binary& node, Position at) {
  Value left = held(value(*node.left), node.left->type, node.right->may_collect);
  Value right = value(*node.right);
  mark_if_new(at.line);
  if (node.left->type == Type::kStr) {
    left = result_of(call_runtime(&nib_compare, {left, right}), Type::kInt, Reg());
    right = constant(0);
  }
  x86::CondCode condition = condition_of(node.op);
  if (left.is_constant()) {
    std::swap(left, right);
    condition = x86::reverseCond(condition);
  }
  const Gp first = in_register(left);
  if (right.is_constant() && right.constant == 0) {
    cc_.test(first, first);
  } else {
    with_operand(right, [&](const auto& operand) { cc_.cmp(first, operand); });
  }
  return condition;
}

// Jumps to `target` when the condition is `on`, else goes on behind.
void FunctionLowering::branch(const Expression& condition, bool on, const Label& target) {
  if (const auto* literal = std::get_if<BoolLiteral>(&condition.node)) {
    if (literal->value == on) cc_.jmp(target);
  } else if (const Binary* comparison = as_comparison(condition); comparison && is_of_floats(*comparison)) {
    branch_on_floats(*comparison, condition.at, on, target);
  } else if (comparison != nullptr) {
    const x86::CondCode code = compare(*comparison, condition.at);
    cc_.j(on ? code : x86::negateCond(code), target);
  } else if (const Binary* logic = as_logic(condition)) {
    // `a and b` is false as soon as one is, `a or b` true as soon as one is: then both jump alike.
    const bool decides = logic->op == BinaryOperator::kOr;
    if (decides == on) {
      branch(*logic->left, on, target);
      branch(*logic->right, on, target);
    } else {
      const Label end = cc_.newLabel();
      branch(*logic->left, decides, end);
      branch(*logic->right, on, target);
      cc_.bind(end);
    }
  } else if (const auto* unary = std::get_if<Unary>(&condition.node)) {
    branch(*unary->operand, !on, target);
  } else {
    const Gp truth = in_register(value(condition));
    cc_.test(truth, truth);
    cc_.j(on ? x86::CondCode::kNE : x86::CondCode::kE, target);
  }
}

}  // namespace nib
