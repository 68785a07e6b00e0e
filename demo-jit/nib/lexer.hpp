// Cuts a source text into tokens.
//
// Context   any.
// Promises  ends for every input, in time linear in its size; the last token is kEnd, and it is the only one
//           of its kind. What fits no token is reported and left out. Token texts point into the source.
// Does not  judge whether a number fits its type: that depends on a minus before it (see the parser).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nib/source.hpp"

namespace nib {

enum class TokenKind : std::uint8_t {
  kEnd,
  kName,
  kNumber,
  kFraction,
  kText,
#define KEYWORD(name, text) name,
#define PUNCTUATION(name, text) name,
#include "nib/token.def"
#undef KEYWORD
#undef PUNCTUATION
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Position at;
  std::string_view text;          // of a kText: what stands between the quotes
  std::uint64_t value = 0;        // of a number
  double fraction = 0;            // of a kFraction
  bool is_hexadecimal = false;    // number with 0x
  bool is_above_64_bits = false;  // number whose value is not in `value`
};

// How messages call a kind: "'while'", "a name", "the end of the file".
std::string_view describe(TokenKind kind) noexcept;

std::vector<Token> tokenize(const Source& source, Diagnostics& diagnostics);

}  // namespace nib
