#include "nib/parser.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace nib {
namespace {

// Thrown at a reported error; caught where parsing can go on.
struct SyntaxError {};
// Thrown when going on would find nothing useful.
struct Abandoned {};

class Parser {
 public:
  Parser(std::vector<Token> tokens, Diagnostics& diagnostics)
      : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  Program run() {
    Program program;
    try {
      while (!is(TokenKind::kEnd)) take_function(program);
    } catch (const Abandoned&) {
    }
    return program;
  }

 private:
  // ---- Tokens ----

  const Token& here() const noexcept { return tokens_[next_]; }
  bool is(TokenKind kind) const noexcept { return here().kind == kind; }

  const Token& take() noexcept {
    const Token& token = here();
    if (token.kind != TokenKind::kEnd) ++next_;
    return token;
  }

  bool take_if(TokenKind kind) noexcept {
    if (!is(kind)) return false;
    take();
    return true;
  }

  const Token& expect(TokenKind kind) {
    if (!is(kind)) fail_expecting(describe(kind));
    return take();
  }

  [[noreturn]] void fail(Position at, std::string text) {
    diagnostics_.error(at, std::move(text));
    if (diagnostics_.full()) throw Abandoned{};
    throw SyntaxError{};
  }

  [[noreturn]] void fail_expecting(std::string_view what) {
    std::string found(describe(here().kind));
    if (is(TokenKind::kName) || is(TokenKind::kNumber)) found = "'" + std::string(here().text) + "'";
    fail(here().at, "expected " + std::string(what) + ", found " + found);
  }

  // One level of source nesting.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (parser_.nesting_ >= kMaxNesting) {
        parser_.diagnostics_.error(parser_.here().at, "nested too deeply");
        throw Abandoned{};
      }
      ++parser_.nesting_;
    }
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // ---- Functions ----

  void take_function(Program& program) {
    try {
      program.functions.push_back(function());
    } catch (const SyntaxError&) {
      while (!is(TokenKind::kEnd) && !is(TokenKind::kFn)) take();
    }
  }

  Function function() {
    expect(TokenKind::kFn);
    Function result;
    const Token& name = expect(TokenKind::kName);
    result.name = name.text;
    result.at = name.at;
    parameters(result);
    if (take_if(TokenKind::kArrow)) result.result = type();
    result.body = block(result.end);
    return result;
  }

  void parameters(Function& function) {
    expect(TokenKind::kOpenParen);
    while (!is(TokenKind::kCloseParen)) {
      if (function.parameter_count > 0) expect(TokenKind::kComma);
      const Token& name = expect(TokenKind::kName);
      if (function.parameter_count == kMaxParameters) {
        fail(name.at, "more than " + std::to_string(kMaxParameters) + " parameters");
      }
      expect(TokenKind::kColon);
      function.variables.push_back({.name = name.text, .type = type(), .is_mutable = true});
      function.parameter_places.push_back(name.at);
      ++function.parameter_count;
    }
    take();
  }

  Type type() {
    if (take_if(TokenKind::kInt)) return Type::kInt;
    if (take_if(TokenKind::kBool)) return Type::kBool;
    fail_expecting("a type ('int' or 'bool')");
  }

  // ---- Statements ----

  Block block(Position& end) {
    const Level level(*this);
    expect(TokenKind::kOpenBrace);
    Block result;
    while (!is(TokenKind::kCloseBrace)) {
      if (is(TokenKind::kEnd) || is(TokenKind::kFn)) fail_expecting("'}'");
      try {
        result.statements.push_back(statement());
      } catch (const SyntaxError&) {
        skip_statement();
      }
    }
    end = take().at;
    return result;
  }

  Block block() {
    Position end;
    return block(end);
  }

  // To behind the next ';' or, when a block comes first, behind that: the block belongs to what failed.
  void skip_statement() noexcept {
    int open = 0;
    while (!is(TokenKind::kEnd) && !is(TokenKind::kFn) && (open > 0 || !is(TokenKind::kCloseBrace))) {
      const TokenKind kind = take().kind;
      if (kind == TokenKind::kOpenBrace) ++open;
      if (kind == TokenKind::kCloseBrace && --open == 0) return;
      if (kind == TokenKind::kSemicolon && open == 0) return;
    }
  }

  Statement statement() {
    const Position at = here().at;
    switch (here().kind) {
      case TokenKind::kOpenBrace:
        return {.at = at, .node = block()};
      case TokenKind::kIf:
        return {.at = at, .node = if_statement()};
      case TokenKind::kWhile:
        return {.at = at, .node = while_statement()};
      default:
        break;
    }
    Statement result = simple_statement();
    expect(TokenKind::kSemicolon);
    return result;
  }

  Statement simple_statement() {
    const Position at = here().at;
    switch (here().kind) {
      case TokenKind::kLet:
      case TokenKind::kVar:
        return {.at = at, .node = declaration()};
      case TokenKind::kPrint:
        return {.at = at, .node = print()};
      case TokenKind::kFail:
        return {.at = at, .node = fail_statement()};
      case TokenKind::kReturn:
        return {.at = at, .node = return_statement()};
      case TokenKind::kName:
        return name_statement();
      case TokenKind::kBreak:
        take();
        return {.at = at, .node = Break{}};
      case TokenKind::kContinue:
        take();
        return {.at = at, .node = Continue{}};
      default:
        fail_expecting("a statement");
    }
  }

  Declaration declaration() {
    const bool is_mutable = take().kind == TokenKind::kVar;
    const Token& name = expect(TokenKind::kName);
    const Type written = take_if(TokenKind::kColon) ? type() : Type::kAny;
    expect(TokenKind::kAssign);
    return {.name = name.text, .is_mutable = is_mutable, .type = written, .value = expression()};
  }

  Print print() {
    take();
    expect(TokenKind::kOpenParen);
    Print result{.value = expression()};
    expect(TokenKind::kCloseParen);
    return result;
  }

  Fail fail_statement() {
    const Position at = take().at;
    expect(TokenKind::kOpenParen);
    const Fail result{.at = at, .text = expect(TokenKind::kText).text};
    expect(TokenKind::kCloseParen);
    return result;
  }

  Return return_statement() {
    take();
    return {.value = is(TokenKind::kSemicolon) ? nullptr : expression()};
  }

  Statement name_statement() {
    const Token& name = take();
    if (is(TokenKind::kOpenParen)) return {.at = name.at, .node = CallStatement{.call = call(name)}};
    if (!is(TokenKind::kAssign)) fail_expecting("'=' or '('");
    take();
    return {.at = name.at, .node = Assignment{.name = name.text, .value = expression()}};
  }

  // A chain of `else if` is one statement with many branches, so its length costs no depth.
  If if_statement() {
    If result;
    do {
      expect(TokenKind::kIf);
      ExpressionPtr condition = expression();
      result.branches.push_back({.condition = std::move(condition), .body = block()});
      if (!take_if(TokenKind::kElse)) return result;
    } while (is(TokenKind::kIf));
    result.otherwise = block();
    return result;
  }

  While while_statement() {
    take();
    ExpressionPtr condition = expression();
    return {.condition = std::move(condition), .body = block()};
  }

  // ---- Expressions ----

  // Every tree is made here. Chains of binary operators grow high without nesting in the source.
  template <class Node>
  ExpressionPtr make(Position at, Node node, std::uint32_t operand_height) {
    if (operand_height >= kMaxTreeHeight) {
      diagnostics_.error(at, "expression too long");
      throw Abandoned{};
    }
    return std::make_unique<Expression>(
        Expression{.at = at, .node = std::move(node), .height = operand_height + 1});
  }

  ExpressionPtr expression() { return binary(0); }

  // All operators that bind at least as tightly as `lowest`.
  ExpressionPtr binary(int lowest) {
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

  void refuse_chained_comparison() {
    for (const BinaryRow& row : kBinaryRows) {
      if (row.precedence == kComparisonPrecedence && is(row.token)) {
        fail(here().at, "comparisons cannot be chained; combine two with 'and'");
      }
    }
  }

  ExpressionPtr prefix(int lowest) {
    const Position at = here().at;
    switch (here().kind) {
      case TokenKind::kNot:
        if (lowest > kNotPrecedence) fail(at, "put 'not' and its operand in parentheses here");
        return unary(UnaryOperator::kNot, kNotPrecedence);
      case TokenKind::kTilde:
        return unary(UnaryOperator::kBitNot, kTightest);
      case TokenKind::kMinus:
        if (tokens_[next_ + 1].kind == TokenKind::kNumber) {
          take();
          return number(true, at);
        }
        return unary(UnaryOperator::kMinus, kTightest);
      default:
        return primary();
    }
  }

  ExpressionPtr unary(UnaryOperator op, int operand_precedence) {
    const Level level(*this);
    const Position at = take().at;
    ExpressionPtr operand = binary(operand_precedence);
    const std::uint32_t height = operand->height;
    return make(at, Unary{.op = op, .operand = std::move(operand)}, height);
  }

  ExpressionPtr primary() {
    const Token& token = here();
    switch (token.kind) {
      case TokenKind::kNumber:
        return number(false, token.at);
      case TokenKind::kTrue:
        take();
        return make(token.at, BoolLiteral{true}, 0);
      case TokenKind::kFalse:
        take();
        return make(token.at, BoolLiteral{false}, 0);
      case TokenKind::kName:
        take();
        if (is(TokenKind::kOpenParen)) return call(token);
        return make(token.at, VariableUse{.name = token.text}, 0);
      case TokenKind::kOpenParen:
        return parenthesized();
      default:
        fail_expecting("an expression");
    }
  }

  ExpressionPtr parenthesized() {
    const Level level(*this);
    take();
    ExpressionPtr result = expression();
    expect(TokenKind::kCloseParen);
    return result;
  }

  // Decimal literals reach from 0 to 2^63-1, and to 2^63 behind a minus. Hexadecimal ones spell all 64 bits.
  ExpressionPtr number(bool is_negative, Position at) {
    const Token& token = take();
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t limit = token.is_hexadecimal ? UINT64_MAX : kMax + (is_negative ? 1 : 0);
    if (token.is_above_64_bits || token.value > limit) {
      diagnostics_.error(token.at, "integer literal does not fit in 64 bits");
    }
    const std::uint64_t bits = is_negative ? 0 - token.value : token.value;
    return make(at, IntLiteral{static_cast<std::int64_t>(bits)}, 0);
  }

  ExpressionPtr call(const Token& name) {
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

  // Above every binary operator: a prefix operator takes one operand.
  static constexpr int kTightest = 100;

  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
  int nesting_ = 0;
};

}  // namespace

Program parse(const Source& source, Diagnostics& diagnostics) {
  return Parser(tokenize(source, diagnostics), diagnostics).run();
}

}  // namespace nib
