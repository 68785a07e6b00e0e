// Arrays: a value is a pointer to an Array (heap.hpp).
#include <bit>
#include <cstddef>

#include "nib/heap.hpp"
#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
namespace x86 = asmjit::x86;

namespace {

std::uint32_t element_size(Type element) noexcept {
  return element == Type::kBool ? sizeof(bool) : sizeof(std::int64_t);
}

x86::Mem length_of(const x86::Gp& array) noexcept {
  return x86::qword_ptr(array, offsetof(Array, length));
}

}  // namespace

// Where the element is, if there is one. One comparison without sign is enough: it takes a negative index for
// one above every length.
x86::Mem FunctionLowering::element(const Value& array, const Value& index, Type type, Position at) {
  mark_if_new(at.line);
  const Gp place = in_register(index);
  const Gp length = cc_.newInt64();
  cc_.mov(length, length_of(array.reg));
  cc_.cmp(place, length);
  cc_.jae(fault(fault_site(Fault::kIndex, at), FaultValues{.first = place, .second = length}));
  const std::uint32_t size = element_size(type);
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(size));
  return x86::ptr(array.reg, place, shift, sizeof(Array), size);
}

FunctionLowering::Value FunctionLowering::value_of(const Index& node, Position at, const Gp& wanted) {
  const Value array = value(*node.array);
  const Value index = value(*node.index);
  const x86::Mem from = element(array, index, node.array->type.element(), at);
  const Gp target = wanted.isValid() ? wanted : cc_.newInt64();
  if (from.size() == sizeof(bool)) {
    cc_.movzx(target.r32(), from);
  } else {
    cc_.mov(target, from);
  }
  return temporary(target);
}

// The operands go from left to right, and the index is checked last: an array never changes its length.
void FunctionLowering::statement(const ElementAssignment& node) {
  const auto& [array_node, index_node] = std::get<Index>(node.target->node);
  const Value array = value(*array_node);
  const Value index = value(*index_node);
  const Value stored = value(*node.value);
  const x86::Mem to = element(array, index, node.target->type, node.target->at);
  if (fits_immediate(stored)) {
    cc_.mov(to, imm(stored.constant));
  } else {
    const Gp from = in_register(stored);
    cc_.mov(to, to.size() == sizeof(bool) ? from.r8() : from);
  }
}

FunctionLowering::Value FunctionLowering::value_of(const Length& node, Position at, const Gp& wanted) {
  const Value array = value(*node.array);
  mark_if_new(at.line);
  const Gp target = wanted.isValid() ? wanted : cc_.newInt64();
  cc_.mov(target, length_of(array.reg));
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::value_of(const NewArray& node, Position at, const Gp& wanted) {
  const Value length = value(*node.length);
  const Value element = value(*node.element);
  mark_if_new(at.line);
  const Value size = constant(element_size(node.element->type));
  const Value site = constant(fault_site(Fault::kNoArray, at));
  return result_of(call_runtime(&nib_new_array, {site, length, element, size}), wanted);
}

}  // namespace nib
