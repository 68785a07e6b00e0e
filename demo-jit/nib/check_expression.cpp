#include "nib/check_expression.hpp"

namespace nib {
namespace {

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string_view text_of(Operands operands) noexcept {
  static constexpr std::string_view kTexts[] = {"bool", "int", "int or float", "int, float or str", ""};
  return kTexts[static_cast<std::size_t>(operands)];
}

bool accepts(Operands operands, Type type) noexcept {
  if (type == Type::kAny) return true;
  switch (operands) {
    case Operands::kBool:
      return type == Type::kBool;
    case Operands::kInt:
      return type == Type::kInt;
    case Operands::kNumber:
      return type == Type::kInt || type == Type::kFloat;
    case Operands::kOrdered:
      return type == Type::kInt || type == Type::kFloat || type == Type::kStr;
    case Operands::kEqual:
      break;
  }
  return true;
}

}  // namespace

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

// ---- Names ----

void ExpressionChecker::bind(std::string_view name, Position at, std::uint32_t variable) {
  for (std::size_t i = scope_start_; i < bindings_.size(); ++i) {
    if (bindings_[i].name == name) {
      diagnostics_.error(at, quoted(name) + " is already defined in this block");
    }
  }
  bindings_.push_back({name, variable});
}

const ExpressionChecker::Binding* ExpressionChecker::find(std::string_view name, Position at) {
  for (auto i = bindings_.rbegin(); i != bindings_.rend(); ++i) {
    if (i->name == name) return &*i;
  }
  const bool is_function = names_.functions.contains(name);
  diagnostics_.error(at, is_function ? quoted(name) + " is a function; call it with '(...)'"
                                     : "no variable " + quoted(name));
  return nullptr;
}

// ---- Expressions ----

void ExpressionChecker::require(Expression& expression, Type wanted) {
  if (expression.type == Type::kNull && wanted.is_record()) expression.type = wanted;
  const bool is_unknown =
      wanted == Type::kAny || (wanted.is_record() && !program_.records[wanted.record].is_defined);
  if (expression.type == wanted || expression.type == Type::kAny || is_unknown) return;
  refuse(expression, name_of(wanted));
}

void ExpressionChecker::refuse(Expression& expression, std::string_view expected) {
  diagnostics_.error(expression.at,
                     "expected " + std::string(expected) + ", found " + name_of(expression.type));
  expression.type = Type::kAny;
}

Type ExpressionChecker::refuse_null(const Expression& null) {
  diagnostics_.error(null.at, "which record's 'null' this is must be written");
  return Type::kAny;
}

void ExpressionChecker::require_shown(Expression& expression, std::string_view what) {
  const Type type = expression.type;
  if (!type.is_reference() || type == Type::kStr) return;
  const std::string_view name = type.is_array()                  ? "an array"
                                : type.is(Type::Layer::kChannel) ? "a channel"
                                : type.is(Type::Layer::kTask)    ? "a task"
                                                                 : "a record";
  diagnostics_.error(expression.at, std::string(name) + " cannot be " + std::string(what));
}

void ExpressionChecker::note_reference(Type type) noexcept {
  if (type.is_reference()) function_.has_references = true;
}

Type ExpressionChecker::require_value(Expression& expression) {
  if (check(expression) != Type::kNone) return expression.type;
  const auto* call = std::get_if<Call>(&expression.node);
  const auto* builtin = std::get_if<BuiltinCall>(&expression.node);
  diagnostics_.error(expression.at, call != nullptr ? "function " + quoted(call->name) + " has no result"
                                                    : std::string(describe(row_of(builtin->builtin).token)) +
                                                          " has no result here");
  expression.type = Type::kAny;
  return expression.type;
}

Type ExpressionChecker::check(Expression& expression) {
  ++function_.size;
  const std::size_t collections = collections_;
  expression.type = std::visit([&](auto& node) { return type_of(node, expression.at); }, expression.node);
  expression.may_collect = collections_ != collections;
  note_reference(expression.type);
  return expression.type;
}

Type ExpressionChecker::type_of(VariableUse& use, Position at) {
  const Binding* binding = find(use.name, at);
  if (binding == nullptr) return Type::kAny;
  use.variable = binding->variable;
  return function_.variables[use.variable].type;
}

Type ExpressionChecker::type_of(Unary& unary, Position) {
  const Operands operands = unary.op == UnaryOperator::kNot     ? Operands::kBool
                            : unary.op == UnaryOperator::kMinus ? Operands::kNumber
                                                                : Operands::kInt;
  require_value(*unary.operand);
  return require_one(*unary.operand, operands);
}

Type ExpressionChecker::require_one(Expression& operand, Operands operands) {
  if (accepts(operands, operand.type)) return operand.type;
  refuse(operand, text_of(operands));
  return operands == Operands::kBool ? Type::kBool : Type::kInt;
}

Type ExpressionChecker::type_of(Binary& binary, Position at) {
  const BinaryRow& row = row_of(binary.op);
  Type type = require_value(*binary.left);
  const Type right = require_value(*binary.right);
  if (row.operands == Operands::kEqual) {
    if (type.depth > 0 || right.depth > 0) {
      const bool is_array = type.is_array() || right.is_array();
      diagnostics_.error(at,
                         is_array ? "arrays cannot be compared" : "channels and tasks cannot be compared");
      return Type::kBool;
    }
    if (type == Type::kNull) require(*binary.left, right);
    type = binary.left->type;
  }
  const Type found = type;
  type = require_one(*binary.left, row.operands);
  const bool is_wrong_twice = binary.left->type == Type::kAny && right == found;
  if (!is_wrong_twice) require(*binary.right, type);
  if (binary.left->type == Type::kAny) type = binary.right->type;
  if (row.result == Gives::kBool) return Type::kBool;
  if (type == Type::kStr) ++collections_;
  return type;
}

Type ExpressionChecker::element_of(Expression& array) {
  const Type type = array.type;
  if (type.is_array()) return type.element();
  if (type != Type::kAny) diagnostics_.error(array.at, "expected an array, found " + name_of(type));
  return Type::kAny;
}

Type ExpressionChecker::type_of(Index& access, Position) {
  const Type element = require_value(*access.array) == Type::kStr ? Type::kInt : element_of(*access.array);
  require_value(*access.index);
  require(*access.index, Type::kInt);
  return element;
}

Type ExpressionChecker::type_of(FieldUse& use, Position at) {
  const Type type = require_value(*use.record);
  if (type == Type::kAny) return type;
  if (!type.is_record()) {
    refuse(*use.record, "a record");
    return Type::kAny;
  }
  const Record& record = program_.records[type.record];
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if (record.fields[i].name != use.name) continue;
    use.field = static_cast<std::uint32_t>(i);
    return record.fields[i].type;
  }
  if (record.is_defined) {
    diagnostics_.error(at, "record " + quoted(record.name) + " has no field " + quoted(use.name));
  }
  return Type::kAny;
}

Type ExpressionChecker::type_of(BuiltinCall& call, Position at) {
  for (const ExpressionPtr& argument : call.arguments) require_value(*argument);
  const Type result = result_of(call, at);
  if (row_of(call.builtin).may_collect) ++collections_;
  return result;
}

Type ExpressionChecker::given(BuiltinCall& call, std::initializer_list<Type> wanted, Type result) {
  auto argument = call.arguments.begin();
  for (const Type type : wanted) require(**argument++, type);
  return result;
}

Type ExpressionChecker::result_of(BuiltinCall& call, Position at) {
  Expression& first = *call.arguments[0];
  switch (call.builtin) {
    case Builtin::kLength:
      if (first.type != Type::kStr) element_of(first);
      return Type::kInt;
    case Builtin::kNewArray:
      return new_array(call, at);
    case Builtin::kToInt:
      return given(call, {Type::kFloat}, Type::kInt);
    case Builtin::kToFloat:
      return given(call, {Type::kInt}, Type::kFloat);
    case Builtin::kToStr:
      require_shown(first, "made a str");
      return Type::kStr;
    case Builtin::kSqrt:
      return given(call, {Type::kFloat}, Type::kFloat);
    case Builtin::kFixed:
      return given(call, {Type::kFloat, Type::kInt}, Type::kStr);
    case Builtin::kChr:
      return given(call, {Type::kInt}, Type::kStr);
    case Builtin::kSlice:
      return given(call, {Type::kStr, Type::kInt, Type::kInt}, Type::kStr);
    case Builtin::kSend:
      require(*call.arguments[1], inside_of(first, Type::Layer::kChannel));
      return Type::kNone;
    case Builtin::kReceive:
      return inside_of(first, Type::Layer::kChannel);
    case Builtin::kJoin:
      return inside_of(first, Type::Layer::kTask);
    case Builtin::kMarker:
    case Builtin::kMessage:
      return given(call, {Type::kStr}, Type::kNone);
  }
  return Type::kAny;
}

Type ExpressionChecker::new_array(BuiltinCall& call, Position at) {
  require(*call.arguments[0], Type::kInt);
  const Type element = call.arguments[1]->type;
  if (element == Type::kNull) return refuse_null(*call.arguments[1]);
  if (element == Type::kAny) return element;
  if (element.depth < kMaxTypeDepth) return element.array();
  diagnostics_.error(at, "nested too deeply");
  return Type::kAny;
}

Type ExpressionChecker::inside_of(Expression& expression, Type::Layer layer) {
  if (expression.type.is(layer)) return expression.type.element();
  if (expression.type != Type::kAny) refuse(expression, layer == Type::Layer::kTask ? "a task" : "a channel");
  return Type::kAny;
}

Type ExpressionChecker::type_of(Spawn& spawn, Position at) {
  const Type result = check(*spawn.call);
  const Call& call = std::get<Call>(spawn.call->node);
  if (call.is_record) {
    diagnostics_.error(at,
                       spawn.is_spark ? "'par' needs a call of a function" : "a record cannot be spawned");
    return Type::kAny;
  }
  if (result == Type::kAny) return result;
  if (result.depth < kMaxTypeDepth) return result.in(Type::Layer::kTask);
  diagnostics_.error(at, "nested too deeply");
  return Type::kAny;
}

Type ExpressionChecker::type_of(NewChannel& created, Position) {
  ++collections_;
  require_value(*created.capacity);
  require(*created.capacity, Type::kInt);
  return created.element.in(Type::Layer::kChannel);
}

Type ExpressionChecker::type_of(Call& call, Position at) {
  ++collections_;
  for (const ExpressionPtr& argument : call.arguments) require_value(*argument);
  if (const auto record = names_.records.find(call.name); record != names_.records.end()) {
    return new_record(call, at, static_cast<std::uint16_t>(record->second));
  }
  const auto found = names_.functions.find(call.name);
  if (found == names_.functions.end()) {
    diagnostics_.error(at, "no function " + quoted(call.name));
    return Type::kAny;
  }
  call.target = found->second;
  const Function& callee = program_.functions[call.target];
  if (has_count(call, at, callee.parameter_count, "function")) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      require(*call.arguments[i], callee.variables[i].type);
    }
  }
  return callee.result;
}

Type ExpressionChecker::new_record(Call& call, Position at, std::uint16_t index) {
  call.is_record = true;
  call.target = index;
  const Record& record = program_.records[index];
  if (has_count(call, at, record.fields.size(), "record")) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      require(*call.arguments[i], record.fields[i].type);
    }
  }
  return {.scalar = Type::Scalar::kRecord, .record = index};
}

bool ExpressionChecker::has_count(const Call& call, Position at, std::size_t count, std::string_view what) {
  if (call.arguments.size() == count) return true;
  diagnostics_.error(at, std::string(what) + " " + quoted(call.name) + " takes " +
                             count_of(count, "argument") + ", not " + std::to_string(call.arguments.size()));
  return false;
}

}  // namespace nib
