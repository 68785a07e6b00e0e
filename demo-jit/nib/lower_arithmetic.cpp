// Which instructions compute an operator.
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
namespace x86 = asmjit::x86;

namespace {

constexpr std::int64_t kMaxShift = 63;

bool is_commutative(BinaryOperator op) noexcept {
  switch (op) {
    case BinaryOperator::kAdd:
    case BinaryOperator::kMultiply:
    case BinaryOperator::kWrappingAdd:
    case BinaryOperator::kWrappingMultiply:
    case BinaryOperator::kBitAnd:
    case BinaryOperator::kBitOr:
    case BinaryOperator::kBitXor:
      return true;
    default:
      return false;
  }
}

// The instructions that are the operator: target = target op right.
x86::Inst::Id instruction_of(BinaryOperator op) noexcept {
  switch (op) {
    case BinaryOperator::kAdd:
      return x86::Inst::kIdAdd;
    case BinaryOperator::kSubtract:
    case BinaryOperator::kWrappingSubtract:
      return x86::Inst::kIdSub;
    case BinaryOperator::kMultiply:
      return x86::Inst::kIdImul;
    case BinaryOperator::kBitAnd:
      return x86::Inst::kIdAnd;
    case BinaryOperator::kBitOr:
      return x86::Inst::kIdOr;
    default:
      return x86::Inst::kIdXor;
  }
}

// k when the number is 2^k with 0 <= k <= 30, whose masks are immediates; else -1.
int power_of_two(std::int64_t number) noexcept {
  const auto bits = static_cast<std::uint64_t>(number);
  return std::has_single_bit(bits) && std::countr_zero(bits) <= 30 ? std::countr_zero(bits) : -1;
}

}  // namespace

bool FunctionLowering::fits_immediate(const Value& value) const noexcept {
  return value.is_constant() && value.constant == static_cast<std::int32_t>(value.constant);
}

FunctionLowering::Reg FunctionLowering::new_register(Type type) {
  return type == Type::kFloat ? Reg(cc_.newXmmSd()) : Reg(cc_.newInt64());
}

void FunctionLowering::move(const Reg& to, const Value& value) {
  if (value.is_float) return move_float(to.as<Xmm>(), value);
  const Gp& target = to.as<Gp>();
  if (!value.is_constant()) {
    cc_.mov(target, value.gp());
  } else if (value.constant == 0) {
    cc_.xor_(target.r32(), target.r32());
  } else if (value.constant > 0 && value.constant <= std::numeric_limits<std::uint32_t>::max()) {
    cc_.mov(target.r32(), imm(value.constant));
  } else {
    cc_.mov(target, imm(value.constant));
  }
}

FunctionLowering::Gp FunctionLowering::in_register(const Value& value) {
  if (!value.is_constant()) return value.gp();
  const Gp result = cc_.newInt64();
  move(result, value);
  return result;
}

// The wanted register, unless writing it would destroy the right operand before it is read.
FunctionLowering::Gp FunctionLowering::target_for(const Value& left, const Value& right, const Reg& wanted) {
  if (wanted.isValid() && !right.is_in(wanted)) return wanted.as<Gp>();
  return left.kind == Value::Kind::kTemporary ? left.gp() : cc_.newInt64();
}

FunctionLowering::Value FunctionLowering::combine(BinaryOperator op, Value left, Value right, Position at,
                                                  const Reg& wanted) {
  const bool is_better_swapped = left.is_constant() || (wanted.isValid() && right.is_in(wanted));
  if (is_commutative(op) && is_better_swapped) std::swap(left, right);
  if (op == BinaryOperator::kDivide || op == BinaryOperator::kRemainder) return divide(op, left, right, at);
  if (op == BinaryOperator::kWrappingSubtract && fits_immediate(right)) {
    op = BinaryOperator::kWrappingAdd;
    right.constant = -right.constant;
  }
  const Gp target = target_for(left, right, wanted);
  switch (op) {
    case BinaryOperator::kAdd:
    case BinaryOperator::kSubtract:
    case BinaryOperator::kMultiply:
      return checked(op, left, right, target, at);
    case BinaryOperator::kWrappingAdd:
      return wrapping_add(left, right, target);
    case BinaryOperator::kWrappingMultiply:
      return wrapping_multiply(left, right, target);
    case BinaryOperator::kShiftLeft:
    case BinaryOperator::kShiftRight:
      return shift(op, left, right, target);
    default:
      break;
  }
  apply(op, left, right, target);
  return temporary(target);
}

void FunctionLowering::apply(BinaryOperator op, const Value& left, const Value& right, const Gp& target) {
  if (!left.is_in(target)) move(target, left);
  with_operand(right, [&](const auto& operand) { cc_.emit(instruction_of(op), target, operand); });
}

// No lea and no shift: they do not tell whether the result fits.
FunctionLowering::Value FunctionLowering::checked(BinaryOperator op, const Value& left, const Value& right,
                                                  const Gp& target, Position at) {
  if (op == BinaryOperator::kMultiply && fits_immediate(right)) {
    cc_.imul(target, in_register(left), imm(right.constant));
  } else {
    apply(op, left, right, target);
  }
  cc_.jo(fault(Fault::kOverflow, at));
  return temporary(target);
}

// lea where the sum goes to another register: it saves the copy.
FunctionLowering::Value FunctionLowering::wrapping_add(const Value& left, const Value& right,
                                                       const Gp& target) {
  if (left.is_in(target)) {
    with_operand(right, [&](const auto& operand) { cc_.add(target, operand); });
  } else if (fits_immediate(right)) {
    cc_.lea(target, x86::ptr(in_register(left), static_cast<std::int32_t>(right.constant)));
  } else {
    cc_.lea(target, x86::ptr(in_register(left), in_register(right)));
  }
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::wrapping_multiply(const Value& left, const Value& right,
                                                            const Gp& target) {
  const int power = right.is_constant() ? power_of_two(right.constant) : -1;
  if (power < 0 && fits_immediate(right)) {
    cc_.imul(target, in_register(left), imm(right.constant));
    return temporary(target);
  }
  if (!left.is_in(target)) move(target, left);
  if (power >= 0) {
    cc_.shl(target, power);
  } else {
    cc_.imul(target, in_register(right));
  }
  return temporary(target);
}

// A count in a register needs no mask: the instruction takes it modulo 64.
FunctionLowering::Value FunctionLowering::shift(BinaryOperator op, const Value& left, const Value& right,
                                                const Gp& target) {
  const bool is_left = op == BinaryOperator::kShiftLeft;
  const auto instruction = is_left ? x86::Inst::kIdShl : x86::Inst::kIdSar;
  if (!left.is_in(target)) move(target, left);
  if (right.is_constant()) {
    cc_.emit(instruction, target, imm(right.constant & kMaxShift));
  } else {
    cc_.emit(instruction, target, right.gp().r8());
  }
  return temporary(target);
}

// idiv traps on 0 and on min / -1. A literal divisor shows that neither can be.
FunctionLowering::Value FunctionLowering::divide(BinaryOperator op, const Value& left, const Value& right,
                                                 Position at) {
  if (const int power = right.is_constant() ? power_of_two(right.constant) : -1; power >= 0) {
    return divide_by_power(op, left, power);
  }
  const bool is_quotient = op == BinaryOperator::kDivide;
  const Gp divisor = in_register(right);
  const Gp low = cc_.newInt64();
  const Gp high = cc_.newInt64();
  const Gp result = is_quotient ? low : high;
  const Label done = cc_.newLabel();
  move(low, left);
  if (!right.is_constant() || right.constant == 0 || right.constant == -1) {
    const Label by_minus_one = cc_.newLabel();
    cc_.test(divisor, divisor);
    cc_.jz(fault(Fault::kDivisionByZero, at));
    cc_.cmp(divisor, -1);
    cc_.je(by_minus_one);
    later([this, at, is_quotient, result, by_minus_one, done] {
      cc_.bind(by_minus_one);
      mark(at.line);
      if (is_quotient) {
        cc_.neg(result);
        cc_.jo(fault(Fault::kOverflow, at));
      } else {
        move(result, constant(0));
      }
      cc_.jmp(done);
    });
  }
  cc_.cqo(high, low);
  cc_.idiv(high, low, divisor);
  cc_.bind(done);
  return temporary(result);
}

// Shifting right rounds down; adding 2^power - 1 to negative numbers first makes it round to zero.
FunctionLowering::Value FunctionLowering::divide_by_power(BinaryOperator op, const Value& left, int power) {
  const bool is_quotient = op == BinaryOperator::kDivide;
  if (power == 0) return is_quotient ? left : constant(0);
  const Gp dividend = in_register(left);
  const Gp rounded = cc_.newInt64();
  cc_.mov(rounded, dividend);
  if (power > 1) cc_.sar(rounded, kMaxShift);
  cc_.shr(rounded, 64 - power);
  cc_.add(rounded, dividend);
  if (is_quotient) {
    cc_.sar(rounded, power);
    return temporary(rounded);
  }
  cc_.and_(rounded, imm(-(std::int64_t{1} << power)));
  const Gp remainder = cc_.newInt64();
  cc_.mov(remainder, dividend);
  cc_.sub(remainder, rounded);
  return temporary(remainder);
}

}  // namespace nib
