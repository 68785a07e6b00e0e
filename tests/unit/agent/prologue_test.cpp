#include "agent/base/prologue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/hex.hpp"

namespace {

using jitquill::movable_prologue;

std::size_t movable(const std::string& bytes, std::size_t wanted) {
  return movable_prologue(jitquill::tests::from_hex(bytes), wanted);
}

TEST(Prologue, TakesWholeInstructions) {
  // push rbp; mov rbp,rsp; push r15; push r14; push r13; push r12; mov r12,rdi
  const std::string kGcc = "55 48 89 e5 41 57 41 56 41 55 41 54 49 89 fc";
  EXPECT_EQ(movable(kGcc, 12), 12u);
  EXPECT_EQ(movable(kGcc, 13), 15u);
  EXPECT_EQ(movable(kGcc, 1), 1u);
  EXPECT_EQ(movable(kGcc, 2), 4u);
}

TEST(Prologue, KnowsEachForm) {
  EXPECT_EQ(movable("48 83 ec 18", 1), 4u);                 // sub $0x18,%rsp
  EXPECT_EQ(movable("48 81 ec 00 01 00 00", 1), 7u);        // sub $0x100,%rsp
  EXPECT_EQ(movable("31 c0", 1), 2u);                       // xor %eax,%eax
  EXPECT_EQ(movable("4c 8b 6e 68", 1), 4u);                 // mov 0x68(%rsi),%r13
  EXPECT_EQ(movable("48 8b 86 00 01 00 00", 1), 7u);        // mov 0x100(%rsi),%rax
  EXPECT_EQ(movable("48 8d 44 24 10", 1), 5u);              // lea 0x10(%rsp),%rax
  EXPECT_EQ(movable("64 48 8b 04 25 28 00 00 00", 1), 9u);  // mov %fs:0x28,%rax
  EXPECT_EQ(movable("48 85 ff", 1), 3u);                    // test %rdi,%rdi
  EXPECT_EQ(movable("48 89 44 24 08", 1), 5u);              // mov %rax,0x8(%rsp)
}

TEST(Prologue, RefusesWhatDependsOnItsPlace) {
  EXPECT_EQ(movable("48 8b 05 00 10 00 00", 1), 0u);  // mov 0x1000(%rip),%rax
  EXPECT_EQ(movable("48 8d 3d 00 10 00 00", 1), 0u);  // lea 0x1000(%rip),%rdi
  EXPECT_EQ(movable("e8 00 00 00 00", 1), 0u);        // call
  EXPECT_EQ(movable("eb 10", 1), 0u);                 // jmp
  EXPECT_EQ(movable("74 10", 1), 0u);                 // je
  EXPECT_EQ(movable("c3", 1), 0u);                    // ret
  EXPECT_EQ(movable("55 c3 90 90 90 90", 4), 0u);     // ends before there is room
  EXPECT_EQ(movable("ff 25 00 00 00 00", 1), 0u);     // jmp *0(%rip)
}

TEST(Prologue, RefusesWhatIsCutOff) {
  for (const char* cut : {"", "48", "64", "64 48", "48 89", "48 83 ec", "48 81 ec 00 01", "4c 8b 6e",
                          "48 8d 44 24", "48 8b 04", "48 8b 04 25 28 00 00"})
    EXPECT_EQ(movable(cut, 1), 0u) << cut;
}

TEST(Prologue, NeverReadsBehindTheEnd) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<std::uint8_t> code(random() % 20);
    for (std::uint8_t& byte : code) byte = static_cast<std::uint8_t>(random());
    EXPECT_LE(movable_prologue(code, 12), code.size());
  }
}

}  // namespace
