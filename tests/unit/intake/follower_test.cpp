// A perf map that is followed: what a step does at the most.
#include "agent/intake/perfmap/follower.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "agent/base/counters.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

using jitquill::counted;
using jitquill::Counter;
using jitquill::intake::Budget;
using jitquill::intake::perfmap::Follower;

constexpr std::size_t kLines = 3000;
constexpr std::size_t kPieces = 64;

std::uint64_t value_of(Counter which) {
  return counted(static_cast<std::size_t>(which));
}

// All lines are read, and wait: their memory becomes executable after that.
class MapFollower : public testing::Test {
 protected:
  void SetUp() override {
    jitquill::reset_counters();
    const std::string path = folder_.file("perf.map");
    std::FILE* const file = std::fopen(path.c_str(), "w");
    for (std::size_t i = 0; i < kLines; ++i) std::fprintf(file, "%zx 40 fn_%zu\n", address_of(i), i);
    std::fclose(file);
    ASSERT_TRUE(follower_.open(path.c_str()));
    ASSERT_EQ(follower_.step(Budget(0, 2 * kLines)), Follower::Progress::kSome);
    ASSERT_EQ(mprotect(memory_, kBytes, PROT_READ | PROT_EXEC), 0);
  }
  void TearDown() override {
    follower_.close();
    munmap(memory_, kBytes);
  }

  test_support::TempFolder folder_;
  Follower follower_;

 private:
  static constexpr std::size_t kBytes = kLines * 64;
  std::size_t address_of(std::size_t line) const {
    return reinterpret_cast<std::size_t>(memory_) + line * 64;
  }

  void* const memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

TEST_F(MapFollower, TellsWhatWaitedInPieces) {
  usleep(25'000);  // it looks for new memory every 20 ms
  std::size_t steps = 0;
  while (follower_.step(Budget(0, kPieces)) == Follower::Progress::kMore) ++steps;
  EXPECT_EQ(steps, kLines / kPieces);
  EXPECT_EQ(value_of(Counter::perfmap_lines_no_code), 0u);
}

TEST_F(MapFollower, CountsWhatItHasNoTimeForAtTheEnd) {
  follower_.last_step(Budget(0, kPieces));
  EXPECT_EQ(value_of(Counter::perfmap_lines_untold), kLines - kPieces);
  EXPECT_EQ(value_of(Counter::perfmap_bytes_unread), 0u);
  EXPECT_EQ(value_of(Counter::perfmap_lines_no_code), 0u);
}

}  // namespace
