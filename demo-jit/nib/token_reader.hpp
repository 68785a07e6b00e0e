// Reads the tokens of a program one after the other: what all parts of the parser share.
//
// Context   any.
// Promises  never runs past the last token. An error is reported before SyntaxError or Abandoned is thrown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nib/lexer.hpp"
#include "nib/parser.hpp"
#include "nib/source.hpp"

namespace nib {

// Thrown at a reported error; caught where parsing can go on.
struct SyntaxError {};
// Thrown when going on would find nothing useful.
struct Abandoned {};

class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, Diagnostics& diagnostics)
      : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  const Token& here() const noexcept { return tokens_[next_]; }
  // The last token is its own successor.
  const Token& behind() const noexcept { return tokens_[is(TokenKind::kEnd) ? next_ : next_ + 1]; }
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

  // Parsing goes on.
  void report(Position at, std::string text) { diagnostics_.error(at, std::move(text)); }

  [[noreturn]] void fail(Position at, std::string text) {
    report(at, std::move(text));
    if (diagnostics_.full()) throw Abandoned{};
    throw SyntaxError{};
  }

  [[noreturn]] void fail_expecting(std::string_view what) {
    std::string found(describe(here().kind));
    if (is(TokenKind::kName) || is(TokenKind::kNumber) || is(TokenKind::kFraction))
      found = "'" + std::string(here().text) + "'";
    fail(here().at, "expected " + std::string(what) + ", found " + found);
  }

  [[noreturn]] void abandon(Position at, std::string text) {
    report(at, std::move(text));
    throw Abandoned{};
  }

  // One level of source nesting, as long as it lives.
  class Level {
   public:
    explicit Level(TokenReader& reader) : reader_(reader) {
      if (reader.nesting_ >= kMaxNesting) reader.abandon(reader.here().at, "nested too deeply");
      ++reader.nesting_;
    }
    ~Level() { --reader_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TokenReader& reader_;
  };

 private:
  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
  int nesting_ = 0;
};

}  // namespace nib
