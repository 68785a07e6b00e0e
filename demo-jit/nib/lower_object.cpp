// What lies in the heap: arrays, strs and records. A value is a pointer to an Array or an Object (heap.hpp).
#include <bit>
#include <cstddef>

#include "nib/heap.hpp"
#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
namespace x86 = asmjit::x86;

namespace {

Kind kind_of_array(Type element) noexcept {
  if (element.is_reference()) return Kind::kReferences;
  return element == Type::kBool ? Kind::kBytes : Kind::kWords;
}

// What nib_new_record() makes.
std::int64_t header_of(const Record& record) noexcept {
  static_assert(kMaxParameters <= 8 * sizeof(Object::references), "a bit for each field");
  Object header{.kind = Kind::kRecord, .fields = static_cast<std::uint8_t>(record.fields.size())};
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    if (record.fields[i].type.is_reference()) header.references |= static_cast<std::uint16_t>(1u << i);
  return std::bit_cast<std::int64_t>(header);
}

}  // namespace

FunctionLowering::Value FunctionLowering::load(const x86::Mem& from, Type type, const Reg& wanted) {
  const Reg target = wanted.isValid() ? wanted : new_register(type);
  if (type == Type::kFloat) {
    cc_.movsd(target.as<Xmm>(), from);
  } else if (from.size() == sizeof(bool)) {
    cc_.movzx(target.as<Gp>().r32(), from);
  } else {
    cc_.mov(target.as<Gp>(), from);
  }
  return temporary(target);
}

void FunctionLowering::store(const x86::Mem& to, const Value& stored) {
  if (stored.is_float && !stored.is_constant()) {
    cc_.movsd(to, stored.reg.as<Xmm>());
  } else if (fits_immediate(stored)) {
    cc_.mov(to, imm(stored.constant));
  } else {
    const Gp from = in_register(stored.is_float ? constant(stored.constant) : stored);
    cc_.mov(to, to.size() == sizeof(bool) ? from.r8() : from);
  }
}

// ---- Arrays and strs ----

// Where the element is, if there is one. One comparison without sign is enough: it takes a negative index for
// one above every length.
x86::Mem FunctionLowering::element(const Value& array, const Value& index, Type type, Position at) {
  mark_if_new(at.line);
  const Gp start = in_register(array);
  const Gp place = in_register(index);
  const auto known = lengths_.find(start.id());
  const Gp length = known != lengths_.end() ? known->second : cc_.newInt64();
  if (known == lengths_.end()) cc_.mov(length, x86::qword_ptr(start, offsetof(Array, length)));
  cc_.cmp(place, length);
  cc_.jae(fault(fault_site(type == Type::kStr ? Fault::kStrIndex : Fault::kIndex, at),
                FaultValues{.first = place, .second = length}));
  const bool has_bytes = type == Type::kStr || type.element() == Type::kBool;
  const std::uint32_t size = has_bytes ? sizeof(bool) : sizeof(std::int64_t);
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(size));
  return x86::ptr(start, place, shift, sizeof(Array), size);
}

FunctionLowering::Value FunctionLowering::value_of(const Index& node, Position at, const Reg& wanted) {
  const Value array = held(value(*node.array), node.array->type, node.index->may_collect);
  const Value index = value(*node.index);
  const Type type = node.array->type;
  const x86::Mem from = element(array, index, type, at);
  return load(from, type == Type::kStr ? Type::kInt : type.element(), wanted);
}

FunctionLowering::Value FunctionLowering::length_of(const BuiltinCall& node, Position at, const Reg& wanted) {
  const Value array = value(*node.arguments[0]);
  mark_if_new(at.line);
  const Gp start = in_register(array);
  if (const auto known = lengths_.find(start.id()); known != lengths_.end())
    return {.kind = Value::Kind::kVariable, .reg = known->second};
  return load(x86::qword_ptr(start, offsetof(Array, length)), Type::kInt, wanted);
}

FunctionLowering::Value FunctionLowering::new_array(const BuiltinCall& node, Position at, const Reg& wanted) {
  const Expression& element_node = *node.arguments[1];
  const Value length = value(*node.arguments[0]);
  const Value element = value(element_node);
  mark_if_new(at.line);
  const Value kind = constant(static_cast<std::int64_t>(kind_of_array(element_node.type)));
  const Value site = constant(fault_site(Fault::kNoArray, at));
  const auto call = element.is_float ? call_runtime(&nib_new_floats, {site, length, element})
                                     : call_runtime(&nib_new_array, {site, length, element, kind});
  return result_of(call, element_node.type.array(), wanted);
}

asmjit::InvokeNode* FunctionLowering::to_str(const Value& value, Type type, Position at) {
  const Value site = constant(fault_site(Fault::kNoMemory, at));
  if (type == Type::kFloat) return call_runtime(&nib_str_of_float, {site, value});
  return call_runtime(type == Type::kBool ? &nib_str_of_bool : &nib_str_of_int, {site, value});
}

// ---- Records ----

x86::Mem FunctionLowering::field(const Value& record, const FieldUse& use, Position at) {
  mark_if_new(at.line);
  const Gp start = in_register(record);
  cc_.test(start, start);
  cc_.jz(fault(fault_site(Fault::kNull, at, use.name)));
  return x86::qword_ptr(start, static_cast<std::int32_t>(sizeof(Object) + use.field * sizeof(std::int64_t)));
}

FunctionLowering::Value FunctionLowering::value_of(const FieldUse& node, Position at, const Reg& wanted) {
  const Value record = value(*node.record);
  const Record& type = context_.program.records[node.record->type.record];
  return load(field(record, node, at), type.fields[node.field].type, wanted);
}

FunctionLowering::Value FunctionLowering::new_record(const Call& node, Position at) {
  const std::vector<Value> fields = values_of(node.arguments, true);
  mark_if_new(at.line);
  const Gp record = new_object(header_of(context_.program.records[node.target]), at);
  for (std::size_t i = 0; i < fields.size(); ++i)
    store(x86::qword_ptr(record, static_cast<std::int32_t>(sizeof(Object) + i * sizeof(std::int64_t))),
          fields[i]);
  return temporary(record);
}

// From the thread's hole if it is large enough, and nobody counts.
FunctionLowering::Gp FunctionLowering::new_object(std::int64_t header, Position at) {
  const Gp object = cc_.newInt64();
  const Label called = cc_.newLabel();
  const Label done = cc_.newLabel();
  const FaultSite& site = fault_site(Fault::kNoMemory, at);
  const auto call = [this, &site, header, object] {
    if (auto* node = call_runtime(&nib_new_record, {constant(site), constant(header)}))
      node->setRet(0, object);
  };
  if (context_.counts_sites) {
    call();
    return object;
  }
  const auto size = static_cast<std::int32_t>(size_of(std::bit_cast<Object>(header)));
  const Gp end = cc_.newInt64();
  cc_.mov(object, thread_word_by_register(offsetof(ThreadWords, next)));
  cc_.lea(end, x86::ptr(object, size));
  cc_.cmp(end, thread_word(offsetof(ThreadWords, end)));
  cc_.ja(called);
  cc_.mov(thread_word_by_register(offsetof(ThreadWords, next)), end);
  move(end, constant(header));
  cc_.mov(x86::qword_ptr(object), end);
  cc_.bind(done);
  later([this, at, called, done, call] {
    cc_.bind(called);
    mark(at.line);
    call();
    cc_.jmp(done);
  });
  return object;
}

// The operands go from left to right, and the index or the record is checked last: an array never changes its
// length.
void FunctionLowering::statement(const PlaceAssignment& node) {
  const Position at = node.target->at;
  if (const auto* use = std::get_if<FieldUse>(&node.target->node)) {
    const Value record = held(value(*use->record), use->record->type, node.value->may_collect);
    const Value stored = value(*node.value);
    return store(field(record, *use, at), stored);
  }
  const auto& [array_node, index_node] = std::get<Index>(node.target->node);
  const bool collects = index_node->may_collect || node.value->may_collect;
  const Value array = held(value(*array_node), array_node->type, collects);
  const Value index = value(*index_node);
  const Value stored = value(*node.value);
  store(element(array, index, array_node->type, at), stored);
}

// ---- What is called by a keyword ----

FunctionLowering::Value FunctionLowering::value_of(const BuiltinCall& node, Position at, const Reg& wanted) {
  if (node.builtin == Builtin::kLength) return length_of(node, at, wanted);
  if (node.builtin == Builtin::kNewArray) return new_array(node, at, wanted);
  const std::vector<Value> values = values_of(node.arguments, false);
  mark_if_new(at.line);
  const auto site = [&](Fault kind) { return constant(fault_site(kind, at)); };
  const Type type = node.arguments[0]->type;
  const auto str = [&](asmjit::InvokeNode* call) { return result_of(call, Type::kStr, wanted); };
  switch (node.builtin) {
    case Builtin::kToInt:
      return to_int(values[0], at, wanted);
    case Builtin::kToFloat:
      return to_float(values[0], wanted);
    case Builtin::kSqrt:
      return square_root(values[0], wanted);
    case Builtin::kToStr:
      return type == Type::kStr ? values[0] : str(to_str(values[0], type, at));
    case Builtin::kFixed:
      return str(call_runtime(&nib_fixed, {site(Fault::kDigits), values[0], values[1]}));
    case Builtin::kChr:
      return str(call_runtime(&nib_chr, {site(Fault::kNoByte), values[0]}));
    case Builtin::kSlice:
      return str(call_runtime(&nib_slice, {site(Fault::kNoSlice), values[0], values[1], values[2]}));
    case Builtin::kSend:
      return send(node, values, at);
    case Builtin::kReceive:
      return of_bits(call_runtime(&nib_receive, {site(Fault::kDeadlock), values[0]}), type.element(), wanted);
    case Builtin::kJoin:
      return of_bits(call_runtime(&nib_join, {site(Fault::kDeadlock), values[0]}), type.element(), wanted);
    case Builtin::kMarker:
    case Builtin::kMessage:
      call_runtime(node.builtin == Builtin::kMarker ? &nib_marker : &nib_message, {values[0]});
      break;
    case Builtin::kLength:
    case Builtin::kNewArray:
      break;
  }
  return constant(0);
}

}  // namespace nib
