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

// A scalar inside of up to kMaxTypeDepth layers. kNone: what a function without a result gives. kNull: of
// `null`, which every record type takes. kAny: unknown because of an error already reported.
struct Type {
  enum class Scalar : std::uint8_t { kNone, kInt, kBool, kFloat, kStr, kRecord, kNull, kAny };
  enum class Layer : std::uint8_t { kArray, kChannel, kTask };

  Scalar scalar;
  std::uint8_t depth = 0;
  std::uint16_t record = 0;  // kRecord: index into Program::records
  std::uint64_t layers = 0;  // two bits each, the outermost lowest

  constexpr bool operator==(const Type&) const noexcept = default;
  constexpr bool is(Layer layer) const noexcept {
    return depth > 0 && (layers & 3) == static_cast<std::uint64_t>(layer);
  }
  constexpr bool is_array() const noexcept { return is(Layer::kArray); }
  constexpr bool is_record() const noexcept { return depth == 0 && scalar == Scalar::kRecord; }
  // Of an object in the heap, which the collector must know.
  constexpr bool is_reference() const noexcept {
    return depth > 0 || scalar == Scalar::kStr || scalar == Scalar::kRecord || scalar == Scalar::kNull;
  }
  constexpr Type element() const noexcept {
    return {scalar, static_cast<std::uint8_t>(depth - 1), record, layers >> 2};
  }
  constexpr Type in(Layer layer) const noexcept {
    return {scalar, static_cast<std::uint8_t>(depth + 1), record,
            layers << 2 | static_cast<std::uint64_t>(layer)};
  }
  constexpr Type array() const noexcept { return in(Layer::kArray); }

  static const Type kNone, kInt, kBool, kFloat, kStr, kNull, kAny;
};
inline constexpr Type Type::kNone{Scalar::kNone};
inline constexpr Type Type::kInt{Scalar::kInt};
inline constexpr Type Type::kBool{Scalar::kBool};
inline constexpr Type Type::kFloat{Scalar::kFloat};
inline constexpr Type Type::kStr{Scalar::kStr};
inline constexpr Type Type::kNull{Scalar::kNull};
inline constexpr Type Type::kAny{Scalar::kAny};
inline constexpr std::size_t kMaxTypeDepth = 32;

enum class BinaryOperator : std::uint8_t {
#define BINARY(name, token, precedence, operands, result) name,
#include "nib/operator.def"
#undef BINARY
};

enum class UnaryOperator : std::uint8_t { kMinus, kBitNot, kNot };

// What both operands of an operator are: one of these, and the same. kEqual: anything that can be compared.
enum class Operands : std::uint8_t { kBool, kInt, kNumber, kOrdered, kEqual };
enum class Gives : std::uint8_t { kBool, kSame };

// One row of operator.def.
struct BinaryRow {
  TokenKind token;
  int precedence;
  Operands operands;
  Gives result;
};

inline constexpr int kNotPrecedence = 3;
inline constexpr int kComparisonPrecedence = 4;

inline constexpr std::array kBinaryRows = {
#define BINARY(name, token, precedence, operands, result) \
  BinaryRow{TokenKind::token, precedence, Operands::operands, Gives::result},
#include "nib/operator.def"
#undef BINARY
};

enum class Builtin : std::uint8_t {
#define BUILTIN(name, token, arity, may_collect, is_statement) name,
#include "nib/builtin.def"
#undef BUILTIN
};

// One row of builtin.def.
struct BuiltinRow {
  TokenKind token;
  std::size_t arity;
  bool may_collect;
  bool is_statement;
};

inline constexpr std::array kBuiltinRows = {
#define BUILTIN(name, token, arity, may_collect, is_statement) \
  BuiltinRow{TokenKind::token, arity, may_collect, is_statement},
#include "nib/builtin.def"
#undef BUILTIN
};

constexpr const BuiltinRow& row_of(Builtin builtin) noexcept {
  return kBuiltinRows[static_cast<std::size_t>(builtin)];
}

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
struct FloatLiteral {
  double value;
};
struct StrLiteral {
  std::string_view text;
};
struct NullLiteral {};
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
struct Call {  // or, if the name is a record's, a new record
  std::string_view name;
  std::vector<ExpressionPtr> arguments;
  bool is_record = false;    // checker
  std::uint32_t target = 0;  // checker: index into Program::functions or records
};
struct Spawn {
  ExpressionPtr call;     // of a function
  bool is_spark = false;  // `par`
};
struct NewChannel {
  Type element;
  ExpressionPtr capacity;
};
struct Index {  // of an array or a str
  ExpressionPtr array;
  ExpressionPtr index;
};
struct FieldUse {
  ExpressionPtr record;
  std::string_view name;
  std::uint32_t field = 0;  // checker
};
struct BuiltinCall {
  Builtin builtin;
  std::vector<ExpressionPtr> arguments;
};

struct Expression {
  Position at;  // of the operator, the name, the literal, or the '[' or '.' behind a value
  std::variant<IntLiteral, BoolLiteral, FloatLiteral, StrLiteral, NullLiteral, VariableUse, Unary, Binary,
               Call, Index, FieldUse, BuiltinCall, Spawn, NewChannel>
      node;
  std::uint32_t height = 1;
  Type type = Type::kAny;    // checker
  bool may_collect = false;  // checker: the collector may run while it is evaluated
};

// ---- Statements ----

struct Statement;

struct Block {
  std::vector<Statement> statements;
  bool is_final = false;     // checker: control never leaves at the end
  std::uint32_t number = 0;  // checker: from 1, in its function; 0: the function's own
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
struct PlaceAssignment {
  ExpressionPtr target;  // an Index or a FieldUse
  ExpressionPtr value;
};
struct CallStatement {
  ExpressionPtr call;  // a Call, a Spawn or a BuiltinCall
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
  std::variant<Block, Declaration, Assignment, PlaceAssignment, CallStatement, Print, If, While, Return, Fail,
               Break, Continue>
      node;
  bool is_final = false;  // checker: control never reaches the next statement
};

// ---- Functions and records ----

struct Variable {
  std::string_view name;
  Type type;
  bool is_mutable;
  bool is_assigned = false;  // checker: again, behind its first value
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
  bool has_references = false;  // checker: values that the collector must know
  bool may_collect = false;     // checker: calls, loops and what else the collector may run in
  bool has_tail_call = false;   // checker: `return f(...)`
  std::uint32_t size = 0;       // checker: expressions
  std::uint32_t blocks = 1;     // checker: the function's own included
};

struct Field {
  std::string_view name;
  Position at;
  Type type;
};

struct Record {
  std::string_view name;
  Position at;
  bool is_defined = false;  // or only used
  std::vector<Field> fields;
};

struct Program {
  std::vector<Function> functions;
  std::vector<Record> records;
  std::uint32_t main = 0;  // checker
};

std::string name_of(const Program& program, Type type);

}  // namespace nib
