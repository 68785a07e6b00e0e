// The tree of a nib program, as the parser builds it and the checker completes it.
//
// Context   any; plain values.
// Promises  what the checker fills in (types, indices, flow) says so beside it. Trees are at most
//           kMaxTreeHeight high, so passes may recurse. Names point into the source text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nib/lexer.hpp"
#include "nib/source.hpp"

namespace nib {

inline constexpr std::uint32_t kMaxTreeHeight = 1000;
inline constexpr std::size_t kMaxParameters = 16;

// kNone: what a function without a result gives. kAny: unknown because of an error already reported, or in
// the operator table "either". There are no arrays of these two.
struct Type {
  enum class Scalar : std::uint8_t { kNone, kInt, kBool, kAny };

  Scalar scalar;
  std::uint32_t depth = 0;  // of arrays inside each other

  constexpr bool operator==(const Type&) const noexcept = default;
  constexpr bool is_array() const noexcept { return depth > 0; }
  constexpr Type element() const noexcept { return {scalar, depth - 1}; }
  constexpr Type array() const noexcept { return {scalar, depth + 1}; }

  static const Type kNone;
  static const Type kInt;
  static const Type kBool;
  static const Type kAny;
};
inline constexpr Type Type::kNone{Scalar::kNone};
inline constexpr Type Type::kInt{Scalar::kInt};
inline constexpr Type Type::kBool{Scalar::kBool};
inline constexpr Type Type::kAny{Scalar::kAny};

std::string name_of(Type type);

enum class BinaryOperator : std::uint8_t {
#define BINARY(name, token, precedence, operands, result) name,
#include "nib/operator.def"
#undef BINARY
};

enum class UnaryOperator : std::uint8_t { kMinus, kBitNot, kNot };

// One row of operator.def.
struct BinaryRow {
  TokenKind token;
  int precedence;
  Type operands;
  Type result;
};

inline constexpr int kNotPrecedence = 3;
inline constexpr int kComparisonPrecedence = 4;

inline constexpr std::array kBinaryRows = {
#define BINARY(name, token, precedence, operands, result) \
  BinaryRow{TokenKind::token, precedence, Type::operands, Type::result},
#include "nib/operator.def"
#undef BINARY
};

constexpr const BinaryRow& row_of(BinaryOperator op) noexcept {
  return kBinaryRows[static_cast<std::size_t>(op)];
}

// ---- Expressions ----

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct IntLiteral {
  std::int64_t value;
};
struct BoolLiteral {
  bool value;
};
struct VariableUse {
  std::string_view name;
  std::uint32_t variable = 0;  // checker: index into Function::variables
};
struct Unary {
  UnaryOperator op;
  ExpressionPtr operand;
};
struct Binary {
  BinaryOperator op;
  ExpressionPtr left;
  ExpressionPtr right;
};
struct Call {
  std::string_view name;
  std::vector<ExpressionPtr> arguments;
  std::uint32_t function = 0;  // checker: index into Program::functions
};
struct Index {
  ExpressionPtr array;
  ExpressionPtr index;
};
struct Length {
  ExpressionPtr array;
};
struct NewArray {
  ExpressionPtr length;
  ExpressionPtr element;  // all are this one
};

struct Expression {
  Position at;  // of the operator, the name, the literal or the '[' of an index
  std::variant<IntLiteral, BoolLiteral, VariableUse, Unary, Binary, Call, Index, Length, NewArray> node;
  std::uint32_t height = 1;
  Type type = Type::kAny;  // checker
};

// ---- Statements ----

struct Statement;

struct Block {
  std::vector<Statement> statements;
  bool is_final = false;  // checker: control never leaves at the end
};
struct Declaration {
  std::string_view name;
  bool is_mutable;
  Type type;  // kAny when not written; checker: the variable's
  ExpressionPtr value;
  std::uint32_t variable = 0;  // checker
};
struct Assignment {
  std::string_view name;
  ExpressionPtr value;
  std::uint32_t variable = 0;  // checker
};
struct ElementAssignment {
  ExpressionPtr target;  // an Index
  ExpressionPtr value;
};
struct CallStatement {
  ExpressionPtr call;
};
struct Print {
  ExpressionPtr value;
};
struct Branch {
  ExpressionPtr condition;
  Block body;
};
struct If {
  std::vector<Branch> branches;  // if, else if, ...
  Block otherwise;               // empty when there is no else
};
struct While {
  ExpressionPtr condition;
  Block body;
};
struct Return {
  ExpressionPtr value;  // null: none
};
struct Fail {
  Position at;
  std::string_view text;
};
struct Break {};
struct Continue {};

struct Statement {
  Position at;
  std::variant<Block, Declaration, Assignment, ElementAssignment, CallStatement, Print, If, While, Return,
               Fail, Break, Continue>
      node;
  bool is_final = false;  // checker: control never reaches the next statement
};

// ---- Functions ----

struct Variable {
  std::string_view name;
  Type type;
  bool is_mutable;
};

struct Function {
  std::string_view name;
  Position at;   // of the name
  Position end;  // of the closing brace
  std::uint32_t parameter_count = 0;
  Type result = Type::kNone;
  Block body;
  std::vector<Variable> variables;  // parameters first; checker: then the locals
  std::vector<Position> parameter_places;
};

struct Program {
  std::vector<Function> functions;
  std::uint32_t main = 0;  // checker
};

}  // namespace nib
