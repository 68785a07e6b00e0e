#include "nib/parse_expression.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace nib {
namespace {

// Above every binary operator: a prefix operator takes one operand.
constexpr int kTightest = 100;

}  // namespace

template <class Node>
ExpressionPtr ExpressionParser::make(Position at, Node node, std::uint32_t operand_height) {
  if (operand_height >= kMaxTreeHeight) abandon(at, "expression too long");
  return std::make_unique<Expression>(
      Expression{.at = at, .node = std::move(node), .height = operand_height + 1});
}

ExpressionPtr ExpressionParser::binary(int lowest) {
  ExpressionPtr left = prefix(lowest);
  while (true) {
    const auto row = std::find_if(kBinaryRows.begin(), kBinaryRows.end(),
                                  [this](const BinaryRow& candidate) { return is(candidate.token); });
    if (row == kBinaryRows.end() || row->precedence < lowest) return left;
    const Position at = take().at;
    ExpressionPtr right = binary(row->precedence + 1);
    const std::uint32_t height = std::max(left->height, right->height);
    const auto op = static_cast<BinaryOperator>(row - kBinaryRows.begin());
    left = make(at, Binary{.op = op, .left = std::move(left), .right = std::move(right)}, height);
    if (row->precedence == kComparisonPrecedence) refuse_chained_comparison();
  }
}

void ExpressionParser::refuse_chained_comparison() {
  for (const BinaryRow& row : kBinaryRows) {
    if (row.precedence == kComparisonPrecedence && is(row.token)) {
      fail(here().at, "comparisons cannot be chained; combine two with 'and'");
    }
  }
}

ExpressionPtr ExpressionParser::prefix(int lowest) {
  const Position at = here().at;
  switch (here().kind) {
    case TokenKind::kNot:
      if (lowest > kNotPrecedence) fail(at, "put 'not' and its operand in parentheses here");
      return unary(UnaryOperator::kNot, kNotPrecedence);
    case TokenKind::kTilde:
      return unary(UnaryOperator::kBitNot, kTightest);
    case TokenKind::kMinus:
      if (behind().kind == TokenKind::kNumber) {
        take();
        return number(true, at);
      }
      if (behind().kind == TokenKind::kFraction) {
        take();
        return fraction(true, at);
      }
      return unary(UnaryOperator::kMinus, kTightest);
    default:
      return followed(primary());
  }
}

ExpressionPtr ExpressionParser::unary(UnaryOperator op, int operand_precedence) {
  const Level level(*this);
  const Position at = take().at;
  ExpressionPtr operand = binary(operand_precedence);
  const std::uint32_t height = operand->height;
  return make(at, Unary{.op = op, .operand = std::move(operand)}, height);
}

ExpressionPtr ExpressionParser::primary() {
  const Token& token = here();
  switch (token.kind) {
    case TokenKind::kNumber:
      return number(false, token.at);
    case TokenKind::kFraction:
      return fraction(false, token.at);
    case TokenKind::kTrue:
    case TokenKind::kFalse:
      return make(token.at, BoolLiteral{take().kind == TokenKind::kTrue}, 0);
    case TokenKind::kText:
      return make(token.at, StrLiteral{take().text}, 0);
    case TokenKind::kNull:
      take();
      return make(token.at, NullLiteral{}, 0);
    case TokenKind::kName:
      return named();
    case TokenKind::kSpawn:
    case TokenKind::kPar:
      return spawn();
    case TokenKind::kChan:
      return new_channel();
    case TokenKind::kOpenParen:
      return parenthesized();
    default:
      break;
  }
  if (const auto row = builtin_here(); row != kBuiltinRows.end()) return builtin(row);
  fail_expecting("an expression");
}

ExpressionPtr ExpressionParser::named() {
  const Token& name = take();
  return is(TokenKind::kOpenParen) ? call(name) : make(name.at, VariableUse{.name = name.text}, 0);
}

ExpressionPtr ExpressionParser::variable(const Token& name) {
  return followed(make(name.at, VariableUse{.name = name.text}, 0));
}

ExpressionPtr ExpressionParser::followed(ExpressionPtr value) {
  while (true) {
    if (is(TokenKind::kOpenBracket)) {
      value = index_of(std::move(value));
    } else if (is(TokenKind::kDot)) {
      value = field_of(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::index_of(ExpressionPtr array) {
  const Level level(*this);
  const Position at = take().at;
  ExpressionPtr index = expression();
  expect(TokenKind::kCloseBracket);
  const std::uint32_t height = std::max(array->height, index->height);
  return make(at, Index{.array = std::move(array), .index = std::move(index)}, height);
}

ExpressionPtr ExpressionParser::field_of(ExpressionPtr record) {
  const Position at = take().at;
  const std::uint32_t height = record->height;
  return make(at, FieldUse{.record = std::move(record), .name = expect(TokenKind::kName).text}, height);
}

const BuiltinRow* ExpressionParser::builtin_here() const noexcept {
  return std::find_if(kBuiltinRows.begin(), kBuiltinRows.end(),
                      [this](const BuiltinRow& candidate) { return is(candidate.token); });
}

ExpressionPtr ExpressionParser::action() {
  if (is(TokenKind::kSpawn)) return spawn();
  const BuiltinRow* const row = builtin_here();
  return row != kBuiltinRows.end() && row->is_statement ? builtin(row) : nullptr;
}

ExpressionPtr ExpressionParser::builtin(const BuiltinRow* row) {
  const Level level(*this);
  const Position at = take().at;
  expect(TokenKind::kOpenParen);
  BuiltinCall result{.builtin = static_cast<Builtin>(row - kBuiltinRows.begin()), .arguments = {}};
  std::uint32_t height = 0;
  for (std::size_t i = 0; i < row->arity; ++i) {
    if (i > 0) expect(TokenKind::kComma);
    result.arguments.push_back(expression());
    height = std::max(height, result.arguments.back()->height);
  }
  expect(TokenKind::kCloseParen);
  return make(at, std::move(result), height);
}

ExpressionPtr ExpressionParser::spawn() {
  const Token& keyword = take();
  const Token& name = expect(TokenKind::kName);
  ExpressionPtr called = call(name);
  const std::uint32_t height = called->height;
  const bool is_spark = keyword.kind == TokenKind::kPar;
  return make(keyword.at, Spawn{.call = std::move(called), .is_spark = is_spark}, height);
}

ExpressionPtr ExpressionParser::new_channel() {
  const Level level(*this);
  const Position at = take().at;
  const Type element = type();
  if (element.depth == kMaxTypeDepth) abandon(at, "nested too deeply");
  expect(TokenKind::kOpenParen);
  ExpressionPtr capacity = expression();
  expect(TokenKind::kCloseParen);
  const std::uint32_t height = capacity->height;
  return make(at, NewChannel{.element = element, .capacity = std::move(capacity)}, height);
}

Type ExpressionParser::type() {
  if (take_if(TokenKind::kInt)) return Type::kInt;
  if (take_if(TokenKind::kBool)) return Type::kBool;
  if (take_if(TokenKind::kFloat)) return Type::kFloat;
  if (take_if(TokenKind::kStr)) return Type::kStr;
  if (is(TokenKind::kName)) return {.scalar = Type::Scalar::kRecord, .record = record_named(take())};
  const bool is_array = is(TokenKind::kOpenBracket);
  const bool is_task = is(TokenKind::kTask);
  if (!is_array && !is_task && !is(TokenKind::kChan))
    fail_expecting("a type ('int', a record's name, '[...]' ...)");
  const Level level(*this);
  take();
  // Of a function without a result.
  const bool has_none =
      is_task && (is(TokenKind::kComma) || is(TokenKind::kCloseParen) || is(TokenKind::kAssign) ||
                  is(TokenKind::kCloseBracket) || is(TokenKind::kOpenBrace) || is(TokenKind::kCloseBrace) ||
                  is(TokenKind::kOpenParen));
  const Type element = has_none ? Type::kNone : type();
  if (element.depth == kMaxTypeDepth) abandon(here().at, "nested too deeply");
  if (is_array) expect(TokenKind::kCloseBracket);
  return element.in(is_array ? Type::Layer::kArray : is_task ? Type::Layer::kTask : Type::Layer::kChannel);
}

std::uint16_t ExpressionParser::record_named(const Token& name) {
  const auto [found, is_new] = records_.try_emplace(name.text, program_.records.size());
  if (is_new) program_.records.push_back({.name = name.text, .at = name.at, .fields = {}});
  if (found->second > UINT16_MAX) abandon(name.at, "too many records");
  return static_cast<std::uint16_t>(found->second);
}

ExpressionPtr ExpressionParser::parenthesized() {
  const Level level(*this);
  take();
  ExpressionPtr result = expression();
  expect(TokenKind::kCloseParen);
  return result;
}

// Decimal literals reach from 0 to 2^63-1, and to 2^63 behind a minus. Hexadecimal ones spell all 64 bits.
ExpressionPtr ExpressionParser::number(bool is_negative, Position at) {
  const Token& token = take();
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t limit = token.is_hexadecimal ? UINT64_MAX : kMax + (is_negative ? 1 : 0);
  if (token.is_above_64_bits || token.value > limit) {
    report(token.at, "integer literal does not fit in 64 bits");
  }
  const std::uint64_t bits = is_negative ? 0 - token.value : token.value;
  return make(at, IntLiteral{static_cast<std::int64_t>(bits)}, 0);
}

ExpressionPtr ExpressionParser::fraction(bool is_negative, Position at) {
  const double value = take().fraction;
  return make(at, FloatLiteral{is_negative ? -value : value}, 0);
}

ExpressionPtr ExpressionParser::call(const Token& name) {
  const Level level(*this);
  expect(TokenKind::kOpenParen);
  Call result{.name = name.text, .arguments = {}};
  std::uint32_t height = 0;
  while (!is(TokenKind::kCloseParen)) {
    if (!result.arguments.empty()) expect(TokenKind::kComma);
    result.arguments.push_back(expression());
    height = std::max(height, result.arguments.back()->height);
  }
  take();
  return make(name.at, std::move(result), height);
}

}  // namespace nib
