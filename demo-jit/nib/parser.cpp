#include "nib/parser.hpp"

#include <string>
#include <utility>

#include "nib/parse_expression.hpp"

namespace nib {
namespace {

class Parser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Program run() {
    try {
      while (!is(TokenKind::kEnd)) take_definition();
    } catch (const Abandoned&) {
    }
    return std::move(program_);
  }

 private:
  // ---- Functions and records ----

  bool is_definition() const noexcept {
    return is(TokenKind::kEnd) || is(TokenKind::kFn) || is(TokenKind::kRecord);
  }

  void take_definition() {
    try {
      if (is(TokenKind::kRecord)) {
        record();
      } else {
        program_.functions.push_back(function());
      }
    } catch (const SyntaxError&) {
      while (!is_definition()) take();
    }
  }

  void record() {
    take();
    const Token& name = expect(TokenKind::kName);
    const std::uint16_t index = record_named(name);
    if (program_.records[index].is_defined) {
      report(name.at, "record '" + std::string(name.text) + "' is already defined");
    }
    std::vector<Field> fields;
    expect(TokenKind::kOpenBrace);
    while (!is(TokenKind::kCloseBrace)) {
      if (!fields.empty()) expect(TokenKind::kComma);
      if (is(TokenKind::kCloseBrace)) break;
      const Token& field = expect(TokenKind::kName);
      if (fields.size() == kMaxParameters) {
        fail(field.at, "more than " + std::to_string(kMaxParameters) + " fields");
      }
      expect(TokenKind::kColon);
      fields.push_back({.name = field.text, .at = field.at, .type = type()});
    }
    take();
    program_.records[index] = {
        .name = name.text, .at = name.at, .is_defined = true, .fields = std::move(fields)};
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

  // ---- Statements ----

  Block block(Position& end) {
    const Level level(*this);
    expect(TokenKind::kOpenBrace);
    Block result;
    while (!is(TokenKind::kCloseBrace)) {
      if (is_definition()) fail_expecting("'}'");
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
    while (!is_definition() && (open > 0 || !is(TokenKind::kCloseBrace))) {
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
        break;
    }
    ExpressionPtr done = action();
    if (done == nullptr) fail_expecting("a statement");
    return {.at = at, .node = CallStatement{.call = std::move(done)}};
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
    if (is(TokenKind::kOpenBracket) || is(TokenKind::kDot))
      return {.at = name.at, .node = place_assignment(name)};
    if (!is(TokenKind::kAssign)) fail_expecting("'=', '[', '.' or '('");
    take();
    return {.at = name.at, .node = Assignment{.name = name.text, .value = expression()}};
  }

  PlaceAssignment place_assignment(const Token& name) {
    ExpressionPtr target = variable(name);
    expect(TokenKind::kAssign);
    return {.target = std::move(target), .value = expression()};
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
};

}  // namespace

Program parse(const Source& source, Diagnostics& diagnostics) {
  return Parser(tokenize(source, diagnostics), diagnostics).run();
}

}  // namespace nib
