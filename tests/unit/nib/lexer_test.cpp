#include "nib/lexer.hpp"

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

struct Lexed {
  Source source;
  Diagnostics diagnostics;
  std::vector<Token> tokens;

  explicit Lexed(std::string_view text) : source(source_of(text)), tokens(tokenize(source, diagnostics)) {}

  std::vector<TokenKind> kinds() const {
    std::vector<TokenKind> result;
    for (const Token& token : tokens) result.push_back(token.kind);
    return result;
  }
};

TEST(Lexer, EmptyTextIsOneEnd) {
  EXPECT_EQ(Lexed("").kinds(), std::vector{TokenKind::kEnd});
  EXPECT_EQ(Lexed(" \t\r\n# all comment").kinds(), std::vector{TokenKind::kEnd});
}

TEST(Lexer, KeywordsAreWholeWords) {
  EXPECT_EQ(Lexed("while whiles _while while1").kinds(),
            (std::vector{TokenKind::kWhile, TokenKind::kName, TokenKind::kName, TokenKind::kName,
                         TokenKind::kEnd}));
}

TEST(Lexer, LongestPunctuationWins) {
  EXPECT_EQ(Lexed("+%-%*%+-*%%").kinds(),
            (std::vector{TokenKind::kPlusPercent, TokenKind::kMinusPercent, TokenKind::kStarPercent,
                         TokenKind::kPlus, TokenKind::kMinus, TokenKind::kStarPercent, TokenKind::kPercent,
                         TokenKind::kEnd}));
  EXPECT_EQ(Lexed("<<=<->>==!=-").kinds(),
            (std::vector{TokenKind::kShiftLeft, TokenKind::kAssign, TokenKind::kLess, TokenKind::kArrow,
                         TokenKind::kGreaterEqual, TokenKind::kAssign, TokenKind::kNotEqual,
                         TokenKind::kMinus, TokenKind::kEnd}));
}

TEST(Lexer, BracketsArrayAndLenAreTokens) {
  EXPECT_EQ(Lexed("[[array]len lens arrays").kinds(),
            (std::vector{TokenKind::kOpenBracket, TokenKind::kOpenBracket, TokenKind::kArray,
                         TokenKind::kCloseBracket, TokenKind::kLen, TokenKind::kName, TokenKind::kName,
                         TokenKind::kEnd}));
}

TEST(Lexer, PositionsCountFromOne) {
  const Lexed lexed("a\n  bb # c\n\n\tfn");
  ASSERT_EQ(lexed.tokens.size(), 4u);
  EXPECT_EQ(lexed.tokens[0].at, (Position{1, 1}));
  EXPECT_EQ(lexed.tokens[1].at, (Position{2, 3}));
  EXPECT_EQ(lexed.tokens[2].at, (Position{4, 2}));
  EXPECT_EQ(lexed.tokens[3].at, (Position{4, 4}));
}

TEST(Lexer, NumbersHaveTheirValue) {
  const Lexed lexed("0 42 0xfF 18446744073709551615 18446744073709551616 0x10000000000000000");
  ASSERT_EQ(lexed.tokens.size(), 7u);
  EXPECT_EQ(lexed.tokens[0].value, 0u);
  EXPECT_EQ(lexed.tokens[1].value, 42u);
  EXPECT_EQ(lexed.tokens[2].value, 255u);
  EXPECT_EQ(lexed.tokens[3].value, UINT64_MAX);
  EXPECT_FALSE(lexed.tokens[3].is_above_64_bits);
  EXPECT_TRUE(lexed.tokens[4].is_above_64_bits);
  EXPECT_TRUE(lexed.tokens[5].is_above_64_bits);
  EXPECT_TRUE(lexed.diagnostics.empty());
}

TEST(Lexer, AFractionOrAnExponentMakesAFloat) {
  const Lexed lexed("1.5 0.25e2 1e-3 2E+10 7.x 1.5.5");
  ASSERT_TRUE(lexed.diagnostics.empty());
  ASSERT_EQ(lexed.kinds(),
            (std::vector{TokenKind::kFraction, TokenKind::kFraction, TokenKind::kFraction,
                         TokenKind::kFraction, TokenKind::kNumber, TokenKind::kDot, TokenKind::kName,
                         TokenKind::kFraction, TokenKind::kDot, TokenKind::kNumber, TokenKind::kEnd}));
  EXPECT_EQ(lexed.tokens[0].fraction, 1.5);
  EXPECT_EQ(lexed.tokens[1].fraction, 25);
  EXPECT_EQ(lexed.tokens[2].fraction, 1e-3);
  EXPECT_EQ(lexed.tokens[3].fraction, 2e10);
}

TEST(Lexer, MalformedNumbersAreErrors) {
  for (const std::string text : {"12ab", "0x", "0xg", "1_000", "1.5x", "1e", "1e+", "1.5e-", "1e999"}) {
    const Lexed lexed(text);
    ASSERT_EQ(lexed.diagnostics.sorted().size(), 1u) << text;
    EXPECT_EQ(lexed.diagnostics.sorted()[0].text, "malformed number '" + text + "'");
  }
}

TEST(Lexer, ForeignBytesAreOneErrorPerRun) {
  const Lexed lexed("a \xc3\xa4\xc3\xb6 ; @\x01");
  const auto errors = lexed.diagnostics.sorted();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(short_line(errors[0]), "1:3: unexpected character '\\xc3'");
  EXPECT_EQ(short_line(errors[1]), "1:10: unexpected character '@'");
  EXPECT_EQ(lexed.kinds(), (std::vector{TokenKind::kName, TokenKind::kSemicolon, TokenKind::kEnd}));
}

TEST(Lexer, NulIsAForeignByte) {
  const Lexed lexed(std::string_view("\0a", 2));
  ASSERT_EQ(lexed.diagnostics.sorted().size(), 1u);
  EXPECT_EQ(short_line(lexed.diagnostics.sorted()[0]), "1:1: unexpected character '\\x00'");
}

TEST(Lexer, ATextIsWhatStandsBetweenItsQuotes) {
  const Lexed lexed("fail(\"no # comment\")");
  ASSERT_EQ(lexed.kinds(), (std::vector{TokenKind::kFail, TokenKind::kOpenParen, TokenKind::kText,
                                        TokenKind::kCloseParen, TokenKind::kEnd}));
  EXPECT_EQ(lexed.tokens[2].text, "no # comment");
  EXPECT_TRUE(lexed.diagnostics.empty());
}

TEST(Lexer, ATextEndsWithItsLine) {
  for (const std::string_view text : {"\"", "\"abc", "\"abc\nfn"}) {
    const Lexed lexed(text);
    ASSERT_EQ(lexed.diagnostics.sorted().size(), 1u) << text;
    EXPECT_EQ(lexed.diagnostics.sorted()[0].text, "text without closing '\"'");
  }
}

}  // namespace
}  // namespace nib::test
