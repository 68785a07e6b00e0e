#include "writer/bytes/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace jitquill {
namespace {

using namespace std::string_view_literals;

struct Put {
  std::string text;
  bool changed;
  bool operator==(const Put&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Put& put) {
  return to << '"' << put.text << "\" changed=" << put.changed;
}

std::string text_of(const Bytes& out) {
  return {out.view().begin(), out.view().end()};
}
Put clean(std::string_view name) {
  Bytes out;
  const bool changed = put_clean(out, name);
  return {text_of(out), changed};
}
Put code_name(std::string_view name, std::uint64_t address) {
  Bytes out;
  const bool changed = put_code_name(out, name, address);
  return {text_of(out), changed};
}

TEST(Names, OrdinaryNamesStayAsTheyAre) {
  EXPECT_EQ(clean("std::map<int, (λ) 名>::at ~x"), (Put{"std::map<int, (λ) 名>::at ~x", false}));
  EXPECT_EQ(clean(""), (Put{"", false}));
}

TEST(Names, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(clean("\na\tb\x7f\x1f"), (Put{"?a?b??", true}));
}

TEST(Names, EndAtTheFirstNul) {
  EXPECT_EQ(clean("ab\0cd"sv), (Put{"ab", true}));
}

TEST(Names, FourThousandAndNinetySixBytesFit) {
  const std::string longest(kMaxNameSize, 'x');
  EXPECT_EQ(clean(longest), (Put{longest, false}));
  EXPECT_EQ(clean(longest + "y"), (Put{longest, true}));
}

TEST(Names, AreNotCutInsideAUtf8Character) {
  for (const std::string_view character : {"é"sv, "名"sv, "😀"sv}) {
    for (std::size_t inside = 1; inside <= character.size(); ++inside) {
      const std::string before(kMaxNameSize - inside, 'x');
      const bool fits = inside == character.size();
      EXPECT_EQ(clean(before + std::string(character) + "yyyy"),
                (Put{fits ? before + std::string(character) : before, true}));
    }
  }
}

TEST(Names, ThatAreNotUtf8AreCutAtTheLimit) {
  EXPECT_EQ(clean(std::string(2 * kMaxNameSize, '\x80')), (Put{std::string(kMaxNameSize, '\x80'), true}));
}

TEST(Names, NamelessCodeIsCalledByItsAddress) {
  EXPECT_EQ(code_name("", 0x7f73ada9c040), (Put{"jit_7f73ada9c040", false}));
  EXPECT_EQ(code_name("\0rest"sv, 0xffffffffffffffff), (Put{"jit_ffffffffffffffff", true}));
  EXPECT_EQ(code_name("f", 1), (Put{"f", false}));
}

}  // namespace
}  // namespace jitquill
