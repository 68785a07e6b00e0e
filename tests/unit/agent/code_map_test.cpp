#include "agent/lanes/code_map.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace jitquill {
namespace {

// Frees what the map of a process never needs to.
template <class Map>
struct Clearing : Map {
  ~Clearing() { this->clear(); }
};

CodeMap::Added add(CodeMap& map, std::uint64_t address, std::uint64_t id, std::uint32_t size,
                   std::uint32_t tail = 0) {
  CodeLoad load;
  load.address = address;
  return map.add(load, {.id = id, .size = size, .tail = tail}, load.may_move);
}

// The id of what was taken out; 0: nothing started there.
std::uint64_t take(CodeMap& map, std::uint64_t address) {
  const LiveCode* found = map.find(address);
  const std::uint64_t id = found == nullptr ? 0 : found->id;
  EXPECT_EQ(map.remove(address), id != 0);
  return id;
}

TEST(CodeMap, FindsWhatWasAddedOnce) {
  Clearing<CodeMap> map;
  EXPECT_EQ(take(map, 0x1000), 0u);
  add(map, 0x1000, 1, 16);
  EXPECT_EQ(take(map, 0x1008), 0u);  // inside, but nothing starts there
  EXPECT_EQ(take(map, 0x1000), 1u);
  EXPECT_EQ(take(map, 0x1000), 0u);
}

TEST(CodeMap, NewCodeEndsAllThatItOverlaps) {
  Clearing<CodeMap> map;
  add(map, 0x1000, 1, 0x100);
  add(map, 0x1100, 2, 0x100);
  add(map, 0x1200, 3, 0x100);
  EXPECT_EQ(add(map, 0x10FF, 4, 0x102).replaced, 3u);
  EXPECT_EQ(take(map, 0x10FF), 4u);
}

TEST(CodeMap, NeighboursThatTouchLive) {
  Clearing<CodeMap> map;
  add(map, 0x1000, 1, 0x100);
  add(map, 0x1200, 2, 0x100);
  EXPECT_EQ(add(map, 0x1100, 3, 0x100).replaced, 0u);
}

TEST(CodeMap, TailIsOverwrittenOnce) {
  Clearing<CodeMap> map;
  add(map, 0x1000, 1, 0x40, 0x60);
  EXPECT_EQ(add(map, 0x10A0, 2, 16).tails_overwritten, 0u);
  EXPECT_EQ(add(map, 0x1080, 3, 16).tails_overwritten, 1u);
  EXPECT_EQ(add(map, 0x1080, 4, 16).tails_overwritten, 0u);
}

TEST(CodeMap, RoomEndsAtTheNextLiveCode) {
  Clearing<CodeMap> map;
  EXPECT_EQ(map.free_room(0x1000, 0x40, 500), 500u);
  add(map, 0x1080, 1, 16);
  EXPECT_EQ(map.free_room(0x1000, 0x40, 500), 0x40u);
  EXPECT_EQ(map.free_room(0x1000, 0x40, 10), 10u);
  EXPECT_EQ(map.free_room(0x1000, 0x80, 500), 0u);
  EXPECT_EQ(map.free_room(0x1080, 16, 500), 500u);  // its own old code ends
}

// The map against the plainest possible one: an owner per byte.
TEST(CodeMap, AgreesWithAnOwnerPerByte) {
  Clearing<CodeMap> map;
  std::map<std::uint64_t, std::uint64_t> owner;   // byte -> id
  std::map<std::uint64_t, std::uint64_t> starts;  // start -> id
  std::mt19937 random(11);
  for (std::uint64_t id = 1; id < 5'000; ++id) {
    const std::uint64_t at = random() % 2'000, size = 1 + random() % 40;
    if (random() % 4 == 0) {
      const std::uint64_t removed = take(map, at);
      const auto found = starts.find(at);
      ASSERT_EQ(removed, found == starts.end() ? 0 : found->second);
      if (removed == 0) continue;
      std::erase_if(owner, [&](const auto& byte) { return byte.second == removed; });
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
    ASSERT_EQ(add(map, at, id, static_cast<std::uint32_t>(size)).replaced, ended.size());
  }
}

TEST(CodeMap, KeepsWhatAnnouncesAFunctionAgain) {
  static Clearing<CodeMap> map;  // as in the agent: the texts that it keeps stay
  {
    std::string name = "f", file = "f.nib";
    std::vector<Line> lines{{.offset = 2, .line = 9, .column = 1, .file = nullptr},
                            {.offset = 4, .line = 1, .column = 0, .file = file.c_str()}};
    std::vector<FrameEvent> events{{.offset = 1, .kind = FrameEventKind::kPush, .reg = 3, .value = 0}};
    CodeLoad load;
    load.address = 0x1000;
    load.name = name;
    load.file = file.c_str();
    load.lines = lines;
    load.unwinding = Unwinding::from_events(events);
    load.may_move = true;
    map.add(load, {.id = 1, .size = 8}, true);
    name = file = "gone!";
    lines.assign(2, Line{});
    events.assign(1, FrameEvent{});
  }
  const CodeLoad kept = map.find(0x1000)->kept->load();
  EXPECT_EQ(kept.name, "f");
  EXPECT_STREQ(kept.file, "f.nib");
  EXPECT_EQ(kept.lines[0].line, 9u);
  EXPECT_EQ(kept.lines[1].file, kept.file);  // one copy of each file name
  EXPECT_EQ(kept.unwinding.events[0].reg, 3);
  EXPECT_TRUE(kept.bytes.empty());
}

// Each byte at each place, and the size: by it code that was told twice is known again.
TEST(CodeHash, KnowsEachByteAndTheSize) {
  for (const std::size_t size : {1u, 7u, 8u, 31u, 32u, 33u, 64u, 100u}) {
    std::vector<std::uint8_t> code(size, 0);
    std::set<std::uint64_t> hashes{hash_of(code)};
    code.push_back(0);
    hashes.insert(hash_of(code));
    code.pop_back();
    for (std::uint8_t& byte : code) {
      for (const std::uint8_t value : std::initializer_list<std::uint8_t>{1, 0x80, 0xFF}) {
        byte = value;
        hashes.insert(hash_of(code));
      }
      byte = 0;
    }
    EXPECT_EQ(hashes.size(), 2 + 3 * size) << size;
    EXPECT_EQ(hashes.count(0), 0u) << "stands for code that nobody hashed";
  }
}

}  // namespace
}  // namespace jitquill
