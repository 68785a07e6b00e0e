#include "agent/base/safe_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <algorithm>
#include <vector>

namespace jitquill {
namespace {

constexpr std::size_t kPage = 4096;

class SafeCopy : public testing::Test {
 protected:
  void SetUp() override {
    memory_ = static_cast<std::uint8_t*>(
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
    std::fill_n(memory_, 4 * kPage, 0x42);
  }
  void TearDown() override { munmap(memory_, 4 * kPage); }

  std::vector<std::uint8_t> copy(std::size_t from, std::size_t size, bool expect_whole) {
    std::vector<std::uint8_t> to(size, 0);
    EXPECT_EQ(safe_copy({memory_ + from, size}, to.data(), 0xCC), expect_whole);
    return to;
  }
  std::uint8_t* memory_ = nullptr;
};

TEST_F(SafeCopy, CopiesWhatCanBeRead) {
  memory_[kPage] = 7;
  const auto bytes = copy(kPage - 1, 3, true);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x42, 7, 0x42}));
}

TEST_F(SafeCopy, LooksAtBothEnds) {
  mprotect(memory_ + kPage, kPage, PROT_NONE);
  EXPECT_TRUE(can_read_ends({memory_, kPage}));
  EXPECT_FALSE(can_read_ends({memory_, kPage + 1}));
  EXPECT_FALSE(can_read_ends({memory_ + 2 * kPage - 1, 2}));
  EXPECT_TRUE(can_read_ends({memory_, std::size_t{0}}));
  EXPECT_FALSE(can_read_ends({static_cast<std::uint8_t*>(nullptr), kPage}));
  // Around the end of the address space, to the page that nobody may read.
  EXPECT_FALSE(can_read_ends({memory_ + 2 * kPage, ~std::size_t{0}}));
}

TEST_F(SafeCopy, CopiesAllOrGivesUp) {
  mprotect(memory_ + 2 * kPage, kPage, PROT_NONE);
  std::vector<std::uint8_t> to(4 * kPage, 0);
  EXPECT_TRUE(copy_whole({memory_ + 1, 2 * kPage - 1}, to.data()));
  EXPECT_EQ(to[2 * kPage - 2], 0x42);
  EXPECT_EQ(to[2 * kPage - 1], 0);
  std::fill(to.begin(), to.end(), 0);
  EXPECT_FALSE(copy_whole({memory_, 4 * kPage}, to.data()));
  EXPECT_EQ(to[3 * kPage], 0) << "went on behind it";
  EXPECT_FALSE(copy_whole({static_cast<std::uint8_t*>(nullptr), kPage}, to.data()));
  EXPECT_TRUE(copy_whole({memory_, std::size_t{0}}, to.data()));
}

TEST_F(SafeCopy, FillsExactlyThePagesThatCannot) {
  mprotect(memory_ + kPage, kPage, PROT_NONE);
  munmap(memory_ + 3 * kPage, kPage);
  const auto bytes = copy(100, 4 * kPage - 200, false);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t page = (i + 100) / kPage;
    ASSERT_EQ(bytes[i], page == 1 || page == 3 ? 0xCC : 0x42) << i;
  }
}

TEST_F(SafeCopy, FillsExactlyThePiecesThatCannotBeRead) {
  mprotect(memory_ + kPage, kPage, PROT_NONE);
  constexpr std::size_t kPieces = 600;
  std::vector<std::uint8_t> to(kPieces * 4, 0);
  std::vector<CopyPiece> pieces;
  for (std::size_t i = 0; i < kPieces; ++i) {
    const std::uint8_t* from = i % 7 == 3 ? memory_ + kPage + i : memory_ + i % kPage;
    pieces.push_back({i % 11 == 5 ? nullptr : from, to.data() + 4 * i, i % 5 == 0 ? 0u : 4u});
  }
  EXPECT_FALSE(safe_copy(pieces, 0xCC));
  for (std::size_t i = 0; i < kPieces; ++i) {
    const int expected = i % 5 == 0 ? 0 : i % 7 == 3 || i % 11 == 5 ? 0xCC : 0x42;
    for (std::size_t j = 0; j < 4; ++j) ASSERT_EQ(to[4 * i + j], expected) << i;
  }
  EXPECT_TRUE(safe_copy(std::span(pieces).first(3), 0xCC));
}

}  // namespace
}  // namespace jitquill
