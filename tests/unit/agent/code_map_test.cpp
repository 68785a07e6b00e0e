#include "agent/lanes/code_map.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace jitquill {
namespace {

LiveCode code(std::uint64_t id, std::uint64_t size, std::uint32_t tail = 0) {
  return {id, size, tail};
}

TEST(CodeMap, FindsWhatWasAddedOnce) {
  CodeMap map;
  EXPECT_FALSE(map.remove(0x1000));
  map.add(0x1000, code(1, 16));
  EXPECT_FALSE(map.remove(0x1008));  // inside, but nothing starts there
  EXPECT_EQ(map.remove(0x1000)->id, 1u);
  EXPECT_FALSE(map.remove(0x1000));
}

TEST(CodeMap, NewCodeEndsAllThatItOverlaps) {
  CodeMap map;
  map.add(0x1000, code(1, 0x100));
  map.add(0x1100, code(2, 0x100));
  map.add(0x1200, code(3, 0x100));
  EXPECT_EQ(map.add(0x10FF, code(4, 0x102)).replaced, 3u);
  EXPECT_EQ(map.remove(0x10FF)->id, 4u);
}

TEST(CodeMap, NeighboursThatTouchLive) {
  CodeMap map;
  map.add(0x1000, code(1, 0x100));
  map.add(0x1200, code(2, 0x100));
  EXPECT_EQ(map.add(0x1100, code(3, 0x100)).replaced, 0u);
}

TEST(CodeMap, TailIsOverwrittenOnce) {
  CodeMap map;
  map.add(0x1000, code(1, 0x40, 0x60));
  EXPECT_EQ(map.add(0x10A0, code(2, 16)).tails_overwritten, 0u);
  EXPECT_EQ(map.add(0x1080, code(3, 16)).tails_overwritten, 1u);
  EXPECT_EQ(map.add(0x1080, code(4, 16)).tails_overwritten, 0u);
}

TEST(CodeMap, RoomEndsAtTheNextLiveCode) {
  CodeMap map;
  EXPECT_EQ(map.free_room(0x1000, 0x40, 500), 500u);
  map.add(0x1080, code(1, 16));
  EXPECT_EQ(map.free_room(0x1000, 0x40, 500), 0x40u);
  EXPECT_EQ(map.free_room(0x1000, 0x40, 10), 10u);
  EXPECT_EQ(map.free_room(0x1000, 0x80, 500), 0u);
  EXPECT_EQ(map.free_room(0x1080, 16, 500), 500u);  // its own old code ends
}

// The map against the plainest possible one: an owner per byte.
TEST(CodeMap, AgreesWithAnOwnerPerByte) {
  CodeMap map;
  std::map<std::uint64_t, std::uint64_t> owner;   // byte -> id
  std::map<std::uint64_t, std::uint64_t> starts;  // start -> id
  std::mt19937 random(11);
  for (std::uint64_t id = 1; id < 5'000; ++id) {
    const std::uint64_t at = random() % 2'000, size = 1 + random() % 40;
    if (random() % 4 == 0) {
      const auto removed = map.remove(at);
      const auto found = starts.find(at);
      ASSERT_EQ(removed.has_value(), found != starts.end());
      if (!removed) continue;
      ASSERT_EQ(removed->id, found->second);
      std::erase_if(owner, [&](const auto& byte) { return byte.second == removed->id; });
      starts.erase(found);
      continue;
    }
    std::map<std::uint64_t, bool> ended;
    for (std::uint64_t byte = at; byte < at + size; ++byte) {
      if (const auto found = owner.find(byte); found != owner.end()) ended[found->second] = true;
    }
    std::erase_if(owner, [&](const auto& byte) { return ended.contains(byte.second); });
    std::erase_if(starts, [&](const auto& start) { return ended.contains(start.second); });
    for (std::uint64_t byte = at; byte < at + size; ++byte) owner[byte] = id;
    starts[at] = id;
    ASSERT_EQ(map.add(at, code(id, size)).replaced, ended.size());
  }
}

}  // namespace
}  // namespace jitquill
