// What no one would write. The random programs come from fixed seeds, so a failure can be had again.
#include <random>

#include "nib/lexer.hpp"
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

std::vector<std::string> vocabulary() {
  std::vector<std::string> words = {"a",     "f",  "main", "0", "1", "0x7f", "9223372036854775808",
                                    "\"t\"", "\"", "#x\n", "\n"};
#define KEYWORD(name, text) words.emplace_back(text);
#define PUNCTUATION(name, text) words.emplace_back(text);
#include "nib/token.def"
#undef KEYWORD
#undef PUNCTUATION
  return words;
}

TEST(Garbage, TokenSoupOnlyGivesErrors) {
  const std::vector<std::string> words = vocabulary();
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    std::string text = seed % 2 == 0 ? "fn main() {" : "";
    for (unsigned i = 0; i < 60; ++i) text += words[random() % words.size()] + " ";
    const auto errors = errors_of(text);
    EXPECT_GE(errors.size(), 1u) << "seed " << seed << ": " << text;
    EXPECT_LE(errors.size(), Diagnostics::kLimit);
  }
}

TEST(Garbage, RandomBytesOnlyGiveErrors) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (unsigned i = 0; i < 400; ++i) text += static_cast<char>(random() % 256);
    EXPECT_GE(errors_of(text).size(), 1u) << "seed " << seed;
  }
}

constexpr std::string_view kSound =
    "fn gcd(a: int, b: int) -> int { if b == 0 { return a; } return gcd(b, a % b); }\n"
    "fn odd(n: int) -> bool { var i = n; while true { if i <= 1 { return i == 1; } i = i - 2; } }\n"
    "fn sum(a: [int], b: [[bool]]) -> [int] { a[0] = a[0] +% len(a); b[0][0] = b[a[0] *% 0][len(a) - 1]; "
    "return a; }\n"
    "fn main() { let s = sum(array(3, 1), array(1, array(4, true))); let a = 0x10 << 1; var b = -a | ~3; "
    "while b < 0 and not odd(b) { b = b + 1; }\n"
    "  if odd(a) or b > 3 { print(gcd(a, 12)); } else if a != b { print(odd(7)); } else { print(b ^ a & 5); "
    "} }\n";

// A sound program with one byte changed, left out or doubled: errors or another program, compiled but not
// run (it may loop for ever).
TEST(Garbage, DamagedProgramsCompileOrGiveErrors) {
  ASSERT_TRUE(errors_of(kSound).empty());
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    std::string text(kSound);
    for (unsigned i = 0; i < 1 + seed % 3; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kSound[random() % kSound.size()];
          break;
        case 1:
          text.erase(at, 1);
          break;
        default:
          text.insert(at, 1, text[at]);
          break;
      }
    }
    const Source source = source_of(text);
    Diagnostics diagnostics;
    const auto executable = compile(source, diagnostics);
    EXPECT_EQ(executable == nullptr, !diagnostics.empty()) << "seed " << seed << ": " << text;
  }
}

TEST(Garbage, EveryBeginningOfAProgramGivesErrors) {
  // The last bytes are the closing brace and a newline.
  for (std::size_t size = 0; size + 2 < kSound.size(); ++size) {
    EXPECT_GE(errors_of(kSound.substr(0, size)).size(), 1u) << size;
  }
}

}  // namespace
}  // namespace nib::test
