// The part of the checker that gives types to expressions.
//
// Context   checker.cpp.
// Promises  as check() in checker.hpp. A type that cannot be known after an error is kAny, which fits
//           anywhere.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nib/ast.hpp"
#include "nib/source.hpp"

namespace nib {

using NameTable = std::unordered_map<std::string_view, std::uint32_t>;

struct Names {
  NameTable functions;
  NameTable records;
};

std::string quoted(std::string_view name);

class ExpressionChecker {
 public:
  ExpressionChecker(const Program& program, const Names& names, Function& function, Diagnostics& diagnostics)
      : program_(program), names_(names), function_(function), diagnostics_(diagnostics) {}

 protected:
  struct Binding {
    std::string_view name;
    std::uint32_t variable;
  };

  // ---- Names ----

  void bind(std::string_view name, Position at, std::uint32_t variable);
  const Binding* find(std::string_view name, Position at);

  // ---- Expressions ----

  // Reports an expression, already checked, of another type.
  void require(Expression& expression, Type wanted);
  void refuse(Expression& expression, std::string_view expected);
  Type refuse_null(const Expression& null);
  // Reports an expression, already checked, that has no text.
  void require_shown(Expression& expression, std::string_view what);
  std::string name_of(Type type) const { return nib::name_of(program_, type); }
  void note_reference(Type type) noexcept;
  Type require_value(Expression& expression);
  Type check(Expression& expression);
  Type type_of(IntLiteral&, Position) { return Type::kInt; }
  Type type_of(BoolLiteral&, Position) { return Type::kBool; }
  Type type_of(FloatLiteral&, Position) { return Type::kFloat; }
  Type type_of(StrLiteral&, Position) { return Type::kStr; }
  Type type_of(NullLiteral&, Position) { return Type::kNull; }
  Type type_of(VariableUse& use, Position at);
  Type type_of(Unary& unary, Position);
  // The operand's type. A wrong one counts as the first that would be right.
  Type require_one(Expression& operand, Operands operands);
  Type type_of(Binary& binary, Position at);
  // The type of its elements; any type when it is no array.
  Type element_of(Expression& array);
  Type type_of(Index& access, Position);
  Type type_of(FieldUse& use, Position at);
  Type type_of(BuiltinCall& call, Position at);
  Type result_of(BuiltinCall& call, Position at);
  // `result`, of arguments of these types.
  Type given(BuiltinCall& call, std::initializer_list<Type> wanted, Type result);
  Type new_array(BuiltinCall& call, Position at);
  // Of a channel or a task; any type when it is none.
  Type inside_of(Expression& expression, Type::Layer layer);
  Type type_of(Spawn& spawn, Position at);
  Type type_of(NewChannel& created, Position at);
  Type type_of(Call& call, Position at);
  Type new_record(Call& call, Position at, std::uint16_t index);
  bool has_count(const Call& call, Position at, std::size_t count, std::string_view what);

  // Some expression so far.
  bool may_collect() const noexcept { return collections_ > 0; }

  const Program& program_;
  const Names& names_;
  Function& function_;
  Diagnostics& diagnostics_;
  std::vector<Binding> bindings_;
  std::size_t scope_start_ = 0;

 private:
  std::size_t collections_ = 0;  // expressions so far that may collect
};

}  // namespace nib
