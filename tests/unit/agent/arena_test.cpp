#include "agent/base/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace jitquill {
namespace {

struct Block {
  unsigned char* data;
  std::size_t size;
  unsigned char mark;
};

bool is_intact(const Block& block) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.data[i] != block.mark) return false;
  }
  return true;
}

TEST(Arena, BlocksKeepTheirBytesWhateverComesAndGoesBesideThem) {
  Arena arena;
  std::mt19937 random(7);
  std::vector<Block> blocks;
  for (int i = 0; i < 20'000; ++i) {
    if (!blocks.empty() && random() % 3 == 0) {
      const std::size_t at = random() % blocks.size();
      ASSERT_TRUE(is_intact(blocks[at]));
      arena.free(blocks[at].data);
      blocks[at] = blocks.back();
      blocks.pop_back();
      continue;
    }
    const std::size_t size = random() % 100 == 0 ? random() % 200'000 : random() % 600;
    auto* data = static_cast<unsigned char*>(arena.allocate(size));
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(data) % 16, 0u);
    const auto mark = static_cast<unsigned char>(random());
    std::memset(data, mark, size);
    blocks.push_back({data, size, mark});
  }
  for (const Block& block : blocks) ASSERT_TRUE(is_intact(block));
}

TEST(Arena, AFreedBlockServesTheNextOfItsSize) {
  Arena arena;
  void* first = arena.allocate(100);
  arena.free(first);
  EXPECT_EQ(arena.allocate(97), first);
}

TEST(Arena, KeepsTheLargestOfWhatWasFreedLastForTheNext) {
  Arena arena;
  void* const small = arena.allocate(100'000);
  void* const medium = arena.allocate(200'000);
  void* const large = arena.allocate(300'000);
  for (void* block : {small, medium, large}) arena.free(block);
  void* const next = arena.allocate(250'000);
  EXPECT_EQ(next, large);
  EXPECT_EQ(arena.allocate(150'000), medium);
  std::memset(next, 1, 300'000);
}

TEST(Arena, GivesBackWhatIsLargeOrOneTooMany) {
  const auto is_mapped = [](void* block) {
    unsigned char resident[1];
    void* const page =
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{4095});
    return mincore(page, 4096, resident) == 0;
  };
  Arena arena;
  void* const huge = arena.allocate(std::size_t{2} << 20);
  arena.free(huge);
  EXPECT_FALSE(is_mapped(huge));
  void* const blocks[] = {arena.allocate(100'000), arena.allocate(110'000), arena.allocate(120'000)};
  for (void* block : blocks) arena.free(block);
  EXPECT_FALSE(is_mapped(blocks[0]));
  EXPECT_TRUE(is_mapped(blocks[1]));
  EXPECT_TRUE(is_mapped(blocks[2]));
}

TEST(Arena, BlocksKnowWhoseTheyAre) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{1} << 20}) {
    void* const of_leaf = arena().allocate(size);
    void* const of_drain = drain_arena().allocate(size);
    EXPECT_EQ(&arena_of(of_leaf), &arena());
    EXPECT_EQ(&arena_of(of_drain), &drain_arena());
    arena().free(of_leaf);
    drain_arena().free(of_drain);
  }
}

TEST(Arena, SaysNoToWhatNoMemoryCanHold) {
  Arena arena;
  EXPECT_EQ(arena.allocate(~std::size_t{0}), nullptr);
  EXPECT_EQ(arena.allocate(~std::size_t{0} / 2), nullptr);
}

TEST(Arena, ServesWhatItPromised) {
  Arena arena;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(arena.can_serve(128));
    ASSERT_NE(arena.allocate(128), nullptr);
  }
}

TEST(Arena, IsNewAfterBeingAbandoned) {
  Arena arena;
  void* before = arena.allocate(64);
  arena.free(before);
  arena.abandon();
  EXPECT_NE(arena.allocate(64), before);
}

}  // namespace
}  // namespace jitquill
