#include "agent/base/patterns.hpp"

#include <gtest/gtest.h>
#include <random>
#include <regex>
#include <string>

namespace jitquill {
namespace {

bool chosen(std::string_view list, std::string_view name) {
  NamePatterns patterns;
  EXPECT_EQ(patterns.set(list), nullptr) << list;
  return patterns.match(name);
}

TEST(Patterns, OfTwoNamesEitherFits) {
  NamePatterns patterns;
  ASSERT_EQ(patterns.set("shop::*,!_ZN4shop5closeEv"), nullptr);
  EXPECT_TRUE(patterns.match("_ZN4shop4openEv", "shop::open()"));
  EXPECT_FALSE(patterns.match("_ZN4shop5closeEv", "shop::close()")) << "the last that fits one";
  EXPECT_FALSE(patterns.match("_Z4mainv", "main()"));
}

struct Case {
  const char* list;
  const char* name;
  bool is_chosen;
};
class Patterns : public testing::TestWithParam<Case> {};

TEST_P(Patterns, ChooseByTheLastThatFits) {
  EXPECT_EQ(chosen(GetParam().list, GetParam().name), GetParam().is_chosen)
      << GetParam().list << " / " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    All, Patterns,
    testing::Values(Case{"", "f", false}, Case{"none", "none", false}, Case{"*", "f", true},
                    Case{"*", "", true}, Case{"f", "f", true}, Case{"f", "ff", false}, Case{"f", "F", false},
                    Case{"f*", "fib", true}, Case{"*b", "fib", true}, Case{"*b", "fibs", false},
                    Case{"f*b*s", "fibbs", true}, Case{"??", "ab", true}, Case{"??", "a", false},
                    Case{"a?c",
                         "a\xC3\xA9"
                         "c",
                         true},
                    Case{"a,b", "b", true}, Case{"a,b", "a,b", false},
                    // exclusions
                    Case{"f*,!fib", "fib", false}, Case{"f*,!fib", "fob", true}, Case{"!fib", "fob", true},
                    Case{"!fib", "fib", false}, Case{"*,!f*,fib", "fib", true},
                    Case{"*,!f*,fib", "fob", false}, Case{"fib,!fib,fib", "fib", true},
                    Case{"a,!b", "c", false},
                    // commas in brackets
                    Case{"map<int,?*>::at,g", "map<int,char>::at", true},
                    Case{"map<int,?*>::at,g", "g", true}, Case{"f(int,int),g", "f(int,int)", true},
                    Case{"f(int,int),g", "int)", false}, Case{"a::operator<,b", "b", true},
                    Case{"a::operator->,b", "b", true}));

TEST(Patterns, EmptyOnesAreRefusedAndTheListStays) {
  NamePatterns patterns;
  ASSERT_EQ(patterns.set("fib"), nullptr);
  for (const char* wrong : {",", "a,", ",a", "a,,b", "!", "a,!", "!,a"})
    EXPECT_NE(patterns.set(wrong), nullptr) << wrong;
  EXPECT_NE(patterns.set(std::string(NamePatterns::kMostBytes + 1, 'a')), nullptr);
  EXPECT_EQ(patterns.view(), "fib");
  EXPECT_EQ(patterns.set(std::string(NamePatterns::kMostBytes, 'a')), nullptr);
}

TEST(Patterns, NoneAndEmptyChooseNothing) {
  NamePatterns patterns;
  EXPECT_FALSE(patterns.any());
  ASSERT_EQ(patterns.set("*"), nullptr);
  EXPECT_TRUE(patterns.any());
  ASSERT_EQ(patterns.set("none"), nullptr);
  EXPECT_FALSE(patterns.any());
}

// Against the standard library's expressions, on an alphabet in which much fits.
TEST(Patterns, AreAsRegularExpressionsSay) {
  std::mt19937 random(7);
  int fits = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern, expression, name;
    for (std::size_t n = random() % 7; n > 0; --n) {
      const char c = "ab*?"[random() % 4];
      pattern += c;
      expression += c == '*' ? std::string(".*") : c == '?' ? std::string(".") : std::string(1, c);
    }
    for (std::size_t n = random() % 9; n > 0; --n) name += "ab"[random() % 2];
    const bool expected = std::regex_match(name, std::regex(expression));
    ASSERT_EQ(matches_pattern(pattern, name), expected) << pattern << " / " << name;
    fits += expected ? 1 : 0;
  }
  EXPECT_GT(fits, 1'000);
}

TEST(Patterns, ManyStarsCostNoMoreThanTheirLengths) {
  std::string pattern;
  for (int i = 0; i < 1'000; ++i) pattern += "*a";
  const std::string name(4'000, 'a');
  EXPECT_TRUE(chosen(pattern, name));
  EXPECT_FALSE(chosen(pattern + "b", name));  // would not end if each star were tried with each other
}

}  // namespace
}  // namespace jitquill
