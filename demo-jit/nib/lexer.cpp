#include "nib/lexer.hpp"

#include <charconv>
#include <cstdio>
#include <string>
#include <utility>

namespace nib {
namespace {

struct FixedToken {
  TokenKind kind;
  std::string_view text;
};

constexpr FixedToken kKeywords[] = {
#define KEYWORD(name, text) {TokenKind::name, text},
#define PUNCTUATION(name, text)
#include "nib/token.def"
#undef KEYWORD
#undef PUNCTUATION
};

constexpr FixedToken kPunctuation[] = {
#define KEYWORD(name, text)
#define PUNCTUATION(name, text) {TokenKind::name, text},
#include "nib/token.def"
#undef KEYWORD
#undef PUNCTUATION
};

// Not <cctype>: its answers depend on the locale, and negative chars are undefined there.
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_part(char c) noexcept {
  return is_name_start(c) || is_digit(c);
}
constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The value of a hexadecimal or decimal digit; 16 for anything else.
constexpr unsigned digit_value(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    for (skip_blanks(); offset_ < text_.size(); skip_blanks()) take_one();
    tokens_.push_back({.kind = TokenKind::kEnd, .at = at_, .text = {}});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const noexcept {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }

  void advance() noexcept {
    if (text_[offset_++] == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
  }

  void skip_blanks() noexcept {
    while (offset_ < text_.size() && (is_space(peek()) || peek() == '#')) {
      if (peek() == '#') {
        while (offset_ < text_.size() && peek() != '\n') advance();
      } else {
        advance();
      }
    }
  }

  void take_one() {
    if (is_name_start(peek())) {
      take_name();
    } else if (is_digit(peek())) {
      take_number();
    } else if (peek() == '"') {
      take_text();
    } else if (!take_punctuation()) {
      refuse_byte();
    }
  }

  std::string_view take_word() noexcept {
    const std::size_t start = offset_;
    while (offset_ < text_.size() && is_name_part(peek())) advance();
    return text_.substr(start, offset_ - start);
  }

  void take_name() {
    Token token{.kind = TokenKind::kName, .at = at_, .text = take_word()};
    for (const FixedToken& keyword : kKeywords) {
      if (keyword.text == token.text) token.kind = keyword.kind;
    }
    tokens_.push_back(token);
  }

  void take_number() {
    const std::size_t start = offset_;
    Token token{.kind = TokenKind::kNumber, .at = at_, .text = take_word()};
    if (take_fraction(token, start)) return;
    std::string_view digits = token.text;
    token.is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (token.is_hexadecimal) digits.remove_prefix(2);
    const unsigned base = token.is_hexadecimal ? 16 : 10;
    bool is_number = !digits.empty();
    for (const char c : digits) {
      const unsigned digit = digit_value(c);
      is_number = is_number && digit < base;
      token.is_above_64_bits = token.is_above_64_bits || token.value > (UINT64_MAX - digit) / base;
      token.value = token.value * base + digit;
    }
    if (!is_number) refuse_number(token);
    tokens_.push_back(token);
  }

  // What makes a float of a number: a point and digits, an exponent, or both.
  bool take_fraction(Token& token, std::size_t start) {
    if (token.text.starts_with("0x") || token.text.starts_with("0X")) return false;
    const bool has_point = peek() == '.' && is_digit(peek(1));
    if (has_point) {
      advance();
      take_word();
    }
    const char last = text_[offset_ - 1];
    if ((last == 'e' || last == 'E') && (peek() == '-' || peek() == '+')) {
      advance();
      take_word();
    }
    token.text = text_.substr(start, offset_ - start);
    if (!has_point && token.text.find_first_of("eE") == std::string_view::npos) return false;
    token.kind = TokenKind::kFraction;
    const char* const end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, token.fraction);
    if (stop != end || error != std::errc()) refuse_number(token);
    tokens_.push_back(token);
    return true;
  }

  void refuse_number(const Token& token) {
    diagnostics_.error(token.at, "malformed number '" + std::string(token.text) + "'");
  }

  // "..." on one line; there are no escapes.
  void take_text() {
    const Position at = at_;
    advance();
    const std::size_t start = offset_;
    while (offset_ < text_.size() && peek() != '"' && peek() != '\n') advance();
    tokens_.push_back({.kind = TokenKind::kText, .at = at, .text = text_.substr(start, offset_ - start)});
    if (peek() == '"') {
      advance();
    } else {
      diagnostics_.error(at, "text without closing '\"'");
    }
  }

  bool take_punctuation() {
    for (const FixedToken& mark : kPunctuation) {
      if (!text_.substr(offset_).starts_with(mark.text)) continue;
      tokens_.push_back({.kind = mark.kind, .at = at_, .text = text_.substr(offset_, mark.text.size())});
      for (std::size_t i = 0; i < mark.text.size(); ++i) advance();
      return true;
    }
    return false;
  }

  // A run of foreign bytes (a UTF-8 letter, a binary file) is one error, not one per byte.
  void refuse_byte() {
    const auto byte = static_cast<unsigned char>(peek());
    if (!(last_refused_end_ == offset_ && offset_ > 0)) {
      char shown[8];
      const bool is_printable = byte > ' ' && byte < 0x7f;
      std::snprintf(shown, sizeof shown, is_printable ? "%c" : "\\x%02x", byte);
      diagnostics_.error(at_, "unexpected character '" + std::string(shown) + "'");
    }
    advance();
    last_refused_end_ = offset_;
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t offset_ = 0;
  std::size_t last_refused_end_ = 0;
  Position at_;
};

}  // namespace

std::string_view describe(TokenKind kind) noexcept {
  static constexpr std::string_view kNames[] = {
      "the end of the file", "a name", "a number", "a number", "a text",
#define KEYWORD(name, text) std::string_view("'" text "'"),
#define PUNCTUATION(name, text) std::string_view("'" text "'"),
#include "nib/token.def"
#undef KEYWORD
#undef PUNCTUATION
  };
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Token> tokenize(const Source& source, Diagnostics& diagnostics) {
  return Lexer(source.text, diagnostics).run();
}

}  // namespace nib
