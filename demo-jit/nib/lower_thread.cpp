// Threads and channels. What they pass has 64 bits, whatever its type.
#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
namespace x86 = asmjit::x86;

// By way of the stack: asmjit 1.9 encodes a move between the two kinds of registers wrongly when one is
// spilled.
FunctionLowering::Value FunctionLowering::bits_of(const Value& value) {
  if (!value.is_float) return value;
  if (value.is_constant()) return constant(value.constant);
  const x86::Mem place = cc_.newStack(sizeof(double), sizeof(double));
  const Gp bits = cc_.newInt64();
  cc_.movsd(place, value.reg.as<Xmm>());
  cc_.mov(bits, place);
  return temporary(bits);
}

FunctionLowering::Value FunctionLowering::of_bits(asmjit::InvokeNode* call, Type type, const Reg& wanted) {
  if (type != Type::kFloat) return result_of(call, type, wanted);
  const Value bits = result_of(call, Type::kInt, Reg());
  const x86::Mem place = cc_.newStack(sizeof(double), sizeof(double));
  const Reg target = wanted.isValid() ? wanted : new_register(type);
  cc_.mov(place, bits.gp());
  cc_.movsd(target.as<Xmm>(), place);
  return temporary(target);
}

FunctionLowering::Value FunctionLowering::send(const BuiltinCall&, const std::vector<Value>& values,
                                               Position at) {
  const Value site = constant(fault_site(Fault::kDeadlock, at));
  call_runtime(&nib_send, {site, values[0], bits_of(values[1])});
  return constant(0);
}

FunctionLowering::Value FunctionLowering::value_of(const NewChannel& node, Position at, const Reg& wanted) {
  const Value capacity = value(*node.capacity);
  mark_if_new(at.line);
  const Value site = constant(fault_site(Fault::kNoChannel, at));
  const Value has_references = constant(node.element.is_reference() ? 1 : 0);
  return result_of(call_runtime(&nib_new_channel, {site, capacity, has_references}), Type::kInt, wanted);
}

FunctionLowering::Value FunctionLowering::value_of(const Spawn& node, Position at, const Reg& wanted) {
  const Call& call = std::get<Call>(node.call->node);
  const std::vector<Value> arguments = values_of(call.arguments, true);
  mark_if_new(at.line);
  const auto count = static_cast<std::uint32_t>(arguments.size());
  const x86::Mem passed = cc_.newStack(std::max(count, 1u) * sizeof(std::int64_t), sizeof(std::int64_t));
  const bool gives_reference = context_.program.functions[call.target].result.is_reference();
  std::uint64_t shape = count | (gives_reference ? 1 << 8 : 0) | (node.is_spark ? 1 << 9 : 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (call.arguments[i]->type.is_reference()) shape |= std::uint64_t{1} << (16 + i);
    x86::Mem to = passed.cloneAdjusted(i * static_cast<std::int64_t>(sizeof(std::int64_t)));
    to.setSize(sizeof(std::int64_t));
    store(to, arguments[i]);
  }
  const CodePoint& code = point(call.target, {.entry = Form::Entry::kSpawn});
  const Gp place = cc_.newUIntPtr();
  cc_.lea(place, passed);
  const Value site = constant(fault_site(Fault::kNoThread, at, call.name));
  auto* const made = call_runtime(&nib_spawn, {site, constant(reinterpret_cast<std::int64_t>(&code)),
                                               temporary(place), constant(static_cast<std::int64_t>(shape))});
  return result_of(made, Type::kInt, wanted);
}

asmjit::FuncNode* FunctionLowering::run_spawn_code() {
  asmjit::FuncNode* const node = cc_.addFunc(
      asmjit::FuncSignatureT<void, const std::int64_t*, std::int64_t*>(asmjit::CallConvId::kHost));
  if (node == nullptr) return nullptr;
  const Gp arguments = cc_.newUIntPtr();
  const Gp result_place = cc_.newUIntPtr();
  node->setArg(0, arguments);
  node->setArg(1, result_place);
  mark(root_.at.line);
  std::vector<Value> values;
  for (std::uint32_t i = 0; i < root_.parameter_count; ++i) {
    const auto from = x86::qword_ptr(arguments, static_cast<std::int32_t>(i * sizeof(std::int64_t)));
    values.push_back(load(from, root_.variables[i].type, Reg()));
  }
  asmjit::InvokeNode* const call = invoke(index_of(root_));
  set_arguments(call, values);
  if (root_.result != Type::kNone) {
    store(x86::qword_ptr(result_place), result_of(call, root_.result, Reg()));
  }
  cc_.ret();
  cc_.endFunc();
  return node;
}

}  // namespace nib
