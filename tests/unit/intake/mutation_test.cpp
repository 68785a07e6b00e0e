// Damaged symbol files: of the compiler's, and spelled ones.
#include <gtest/gtest.h>

#include "tests/support/symfile.hpp"
#include "tests/unit/intake/mutations.hpp"
#include "tests/unit/intake/sample.hpp"

namespace {

unsigned times() {
  const char* asked = std::getenv("JITQUILL_LONG");
  return asked != nullptr && std::strcmp(asked, "1") == 0 ? 1'000'000 : 30'000;
}

TEST(SymfileDamaged, OfACompilerBreaksNoPromise) {
  const auto outcome = mutations::run(sample::object(), 1, times());
  EXPECT_EQ(outcome.faults, 0u);
  EXPECT_GT(outcome.read, times() / 2);  // the damage must reach what lies behind the headers
  EXPECT_GT(outcome.refused, 0u);
  EXPECT_GT(outcome.functions, times());
  EXPECT_GT(outcome.lines, times());
}

TEST(SymfileDamaged, WithoutLinesBreaksNoPromise) {
  test_support::Symfile file;
  file.sections.push_back({".text", 0x100000, std::vector<std::uint8_t>(64, 0x90)});
  file.sections[0].relocations = {{4, ELF64_R_INFO(1, R_X86_64_PC32), -4}};
  file.symbols = {{"f", 0, 16, 0}, {"g", 16, 0, 0}};
  const auto outcome = mutations::run(file.build(), 2, times());
  EXPECT_EQ(outcome.faults, 0u);
  EXPECT_GT(outcome.read, times() / 4);
}

}  // namespace
