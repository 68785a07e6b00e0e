// Floats: a value is in an xmm register, or a constant in memory behind the function.
#include <limits>

#include "nib/lowering.hpp"

namespace nib {

namespace x86 = asmjit::x86;

namespace {

x86::Inst::Id instruction_of(BinaryOperator op) noexcept {
  switch (op) {
    case BinaryOperator::kAdd:
      return x86::Inst::kIdAddsd;
    case BinaryOperator::kSubtract:
      return x86::Inst::kIdSubsd;
    case BinaryOperator::kMultiply:
      return x86::Inst::kIdMulsd;
    default:
      return x86::Inst::kIdDivsd;
  }
}

}  // namespace

void FunctionLowering::move_float(const Xmm& target, const Value& value) {
  if (!value.is_constant()) {
    cc_.movaps(target, value.reg.as<Xmm>());
  } else if (value.constant == 0) {
    cc_.xorps(target, target);
  } else {
    with_float(value, [&](const auto& from) { cc_.movsd(target, from); });
  }
}

FunctionLowering::Xmm FunctionLowering::in_xmm(const Value& value) {
  if (!value.is_constant()) return value.reg.as<Xmm>();
  const Xmm result = cc_.newXmmSd();
  move_float(result, value);
  return result;
}

FunctionLowering::Value FunctionLowering::combine_floats(BinaryOperator op, const Value& left,
                                                         const Value& right, const Reg& wanted) {
  const bool fits = wanted.isValid() && !right.is_in(wanted);
  const Reg target = fits ? wanted : left.kind == Value::Kind::kTemporary ? left.reg : Reg(cc_.newXmmSd());
  if (!left.is_in(target)) move_float(target.as<Xmm>(), left);
  with_float(right, [&](const auto& operand) { cc_.emit(instruction_of(op), target, operand); });
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::square_root(const Value& operand, const Reg& wanted) {
  const Reg target = wanted.isValid() ? wanted : new_register(Type::kFloat);
  cc_.sqrtsd(target.as<Xmm>(), in_xmm(operand));
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::negated_float(const Value& operand) {
  const Gp sign = cc_.newInt64();
  const Xmm mask = cc_.newXmmSd();
  move(sign, constant(std::numeric_limits<std::int64_t>::min()));
  cc_.movq(mask, sign);
  cc_.xorps(mask, in_xmm(operand));
  return temporary(mask);
}

// The conversion keeps what stood in the upper half of its target, so that it would wait for it.
FunctionLowering::Value FunctionLowering::to_float(const Value& operand, const Reg& wanted) {
  const Reg target = wanted.isValid() ? wanted : new_register(Type::kFloat);
  cc_.xorps(target.as<Xmm>(), target.as<Xmm>());
  cc_.cvtsi2sd(target.as<Xmm>(), in_register(operand));
  return temporary(target);
}

// Toward zero. The smallest int is what the instruction gives for all floats that have none: of those with
// that result only -2^63 is right.
FunctionLowering::Value FunctionLowering::to_int(const Value& operand, Position at, const Reg& wanted) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  const Gp result = wanted.isValid() ? wanted.as<Gp>() : cc_.newInt64();
  const Xmm from = in_xmm(operand);
  const Gp none = cc_.newInt64();
  const Label done = cc_.newLabel();
  const Label rare = cc_.newLabel();
  const Label failed = fault(Fault::kNoInt, at);
  move(none, constant(kNone));
  cc_.cvttsd2si(result, from);
  cc_.cmp(result, none);
  cc_.je(rare);
  cc_.bind(done);
  later([this, from, failed, rare, done] {
    cc_.bind(rare);
    Value smallest = constant(std::bit_cast<std::int64_t>(static_cast<double>(kNone)));
    smallest.is_float = true;
    with_float(smallest, [&](const auto& number) { cc_.ucomisd(from, number); });
    cc_.jp(failed);
    cc_.je(done);
    cc_.jmp(failed);
  });
  return temporary(result);
}

// NaN is neither less than, nor equal to, nor greater than anything: the flags then say "below" and "equal".
void FunctionLowering::branch_on_floats(const Binary& node, Position at, bool on, const Label& target) {
  Value left = value(*node.left);
  Value right = value(*node.right);
  mark_if_new(at.line);
  BinaryOperator op = node.op;
  if (op == BinaryOperator::kLess || op == BinaryOperator::kLessEqual) {
    std::swap(left, right);
    op = op == BinaryOperator::kLess ? BinaryOperator::kGreater : BinaryOperator::kGreaterEqual;
  }
  const Xmm first = in_xmm(left);
  with_float(right, [&](const auto& operand) { cc_.ucomisd(first, operand); });
  if (op == BinaryOperator::kGreater || op == BinaryOperator::kGreaterEqual) {
    const x86::CondCode code = op == BinaryOperator::kGreater ? x86::CondCode::kA : x86::CondCode::kAE;
    cc_.j(on ? code : x86::negateCond(code), target);
    return;
  }
  if (on == (op == BinaryOperator::kEqual)) {  // jumps when they are equal
    const Label unordered = cc_.newLabel();
    cc_.jp(unordered);
    cc_.je(target);
    cc_.bind(unordered);
  } else {
    cc_.jp(target);
    cc_.jne(target);
  }
}

}  // namespace nib
