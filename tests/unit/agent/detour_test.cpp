#include "agent/intake/detour.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <cstring>
#include <string>
#include <thread>

#include "tests/hex.hpp"

namespace {

using Function = int(int);

// In a page that may not be written, as the code of a library.
Function* made_of(const std::string& hex) {
  constexpr std::size_t kPage = 4096;
  const auto bytes = jitquill::tests::from_hex(hex);
  void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(page, 0xCC, kPage);
  std::memcpy(page, bytes.data(), bytes.size());
  mprotect(page, kPage, PROT_READ | PROT_EXEC);
  return reinterpret_cast<Function*>(page);
}

// push rbp; mov rbp,rsp; push r12; push rbx; mov r12,rdi; sub rsp,0x10; lea eax,[rdi+rdi]; ... return
const std::string kTwice = "55 48 89 e5 41 54 53 49 89 fc 48 83 ec 10 8d 04 3f 48 83 c4 10 5b 41 5c 5d c3";

Function* g_original = nullptr;
int one_more(int value) {
  return g_original(value) + 1;
}

// ctest runs each case in a process of its own, where no other has started a thread before.
class Detour : public testing::Test {
 protected:
  void SetUp() override {
    if (__libc_single_threaded == 0) GTEST_SKIP() << "the process has had threads";
  }
};

TEST_F(Detour, LeadsToUsAndKeepsTheFunction) {
  Function* const twice = made_of(kTwice);
  ASSERT_EQ(twice(21), 42);
  ASSERT_TRUE(jitquill::intake::detour(twice, &one_more, g_original));
  EXPECT_EQ(twice(21), 43);
  EXPECT_EQ(g_original(21), 42);
}

TEST_F(Detour, KeepsTheMarkOfABranchTarget) {
  Function* const twice = made_of("f3 0f 1e fa " + kTwice);
  ASSERT_TRUE(jitquill::intake::detour(twice, &one_more, g_original));
  EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(twice), "\xf3\x0f\x1e\xfa", 4), 0);
  EXPECT_EQ(twice(4), 9);
}

TEST_F(Detour, LeavesTheRestOfThePageAlone) {
  Function* const twice = made_of(kTwice);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(twice);
  ASSERT_TRUE(jitquill::intake::detour(twice, &one_more, g_original));
  const auto before = jitquill::tests::from_hex(kTwice);
  EXPECT_TRUE(std::equal(before.begin() + 12, before.end(), bytes + 12));
  EXPECT_EQ(bytes[before.size()], 0xCC);
}

TEST_F(Detour, RefusesCodeThatItDoesNotKnow) {
  Function* const jump = made_of("eb 10 90 90 90 90 90 90 90 90 90 90 90 90");
  EXPECT_FALSE(jitquill::intake::detour(jump, &one_more, g_original));
  EXPECT_EQ(*reinterpret_cast<const std::uint8_t*>(jump), 0xEB);
  EXPECT_FALSE(jitquill::intake::detour(reinterpret_cast<Function*>(0x1000), &one_more, g_original));
}

TEST_F(Detour, RefusesWhereThereMayBeThreads) {
  Function* const twice = made_of(kTwice);
  std::thread([] {}).join();
  EXPECT_FALSE(jitquill::intake::detour(twice, &one_more, g_original));
  EXPECT_EQ(twice(21), 42);
}

}  // namespace
