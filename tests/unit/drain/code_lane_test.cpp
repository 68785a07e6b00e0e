#include "agent/lanes/code_lane.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/base/counters.hpp"
#include "tests/unit/writer/temporary_folder.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::lanes {
namespace {

using Next = CodeLaneReader::Next;

class CodeLaneFile : public testing::Test {
 protected:
  CodeLaneFile() { EXPECT_EQ(lane.begin({}, folder), Status::kOk); }
  std::string file() const { return (folder.path / kCodeFile).string(); }
  bool open(CodeLaneReader& with) const { return with.open(::open(file().c_str(), O_RDONLY | O_CLOEXEC)); }
  void load(std::uint64_t id, std::string_view name) {
    CodeLoad code;
    code.id = id;
    code.index = id + 100;
    code.when_ns = 5 * id;
    code.address = 0x1000 * id;
    code.bytes = kCode;
    code.name = name;
    code.file = "/src/a.nib";
    code.lines = kLines;
    Written written;
    EXPECT_EQ(lane.load(code, written), Status::kOk);
  }

  static constexpr std::uint8_t kCode[] = {0x90, 0x90, 0xC3};
  static constexpr Line kLines[] = {{0, 17, 0, nullptr}, {1, 18, 0, "/src/b.nib"}};
  TemporaryFolder folder;
  CodeLane lane;
  CodeLaneReader reader;
  CodeRecord record;
};

TEST_F(CodeLaneFile, TellsWhatWasAnnouncedInItsOrder) {
  ASSERT_TRUE(open(reader));
  EXPECT_EQ(reader.next(record), Next::kNothingYet);
  load(3, "fib");
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.kind, CodeRecordKind::kLoad);
  EXPECT_EQ(record.id, 3u);
  EXPECT_EQ(record.index, 103u);
  EXPECT_EQ(record.when_ns, 15u);
  EXPECT_EQ(record.address, 0x3000u);
  EXPECT_EQ(record.size, 3u);
  EXPECT_EQ(record.name, "fib");
  EXPECT_EQ(record.file, "/src/a.nib");
  EXPECT_EQ(record.line, 17u);
  EXPECT_EQ(reader.next(record), Next::kNothingYet);
  Written written;
  CodeMove move;
  move.id = 3;
  move.to = 0x9000;
  EXPECT_EQ(lane.move(move, written), Status::kOk);
  EXPECT_EQ(lane.unload({.id = 3, .when_ns = 30, .address = 0x9000, .size = 3}), Status::kOk);
  EXPECT_EQ(lane.function(4, "interpreted", "x.js", 7), Status::kOk);
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.kind, CodeRecordKind::kMove);
  EXPECT_EQ(record.address, 0x9000u);
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.kind, CodeRecordKind::kUnload);
  EXPECT_EQ(record.when_ns, 30u);
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.kind, CodeRecordKind::kFunction);
  EXPECT_EQ(record.name, "interpreted");
  EXPECT_EQ(record.line, 7u);
  EXPECT_EQ(record.address, 0u);
  EXPECT_EQ(reader.next(record), Next::kNothingYet);
}

TEST_F(CodeLaneFile, CutsALongNameBetweenCharactersAndCountsIt) {
  ASSERT_TRUE(open(reader));
  const auto before = counted(static_cast<std::size_t>(Counter::names_changed));
  const std::string name = std::string(kMaxNameSize - 1, 'a') + "\u00e9 and more";
  EXPECT_EQ(lane.function(5, std::string_view(name).substr(0, kNameToRead), "x.js", 1), Status::kOk);
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.name, std::string(kMaxNameSize - 1, 'a'));
  EXPECT_EQ(counted(static_cast<std::size_t>(Counter::names_changed)), before + 1);
}

TEST_F(CodeLaneFile, ReadsARecordAgain) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t id = 1; id <= 3'000; ++id) load(id, "function_" + std::to_string(id));
  ASSERT_TRUE(open(reader));
  while (reader.next(record) == Next::kRecord) places.push_back(reader.last_at());
  ASSERT_EQ(places.size(), 3'000u);
  for (const std::uint64_t id : {2'999u, 1u, 3'000u, 1'500u}) {
    ASSERT_TRUE(reader.read_at(places[id - 1], record));
    EXPECT_EQ(record.name, "function_" + std::to_string(id));
  }
  load(3'001, "and on");
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.name, "and on");
  EXPECT_FALSE(reader.read_at(places[5] + 1, record));
  EXPECT_FALSE(reader.read_at(~0ull, record));
}

TEST_F(CodeLaneFile, CutsAndCleansTexts) {
  load(1, std::string(5'000, 'x'));
  load(2, "a\nb");
  ASSERT_TRUE(open(reader));
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.name, std::string(4'096, 'x'));
  ASSERT_EQ(reader.next(record), Next::kRecord);
  EXPECT_EQ(record.name, "a?b");
}

// A killed process leaves the beginning of a record at most.
TEST_F(CodeLaneFile, StopsBeforeARecordThatIsNotWhole) {
  load(1, "one");
  load(2, "two");
  const std::string all = folder.read(kCodeFile);
  for (std::size_t size = 0; size < all.size(); ++size) {
    ASSERT_EQ(truncate(file().c_str(), static_cast<off_t>(size)), 0);
    CodeLaneReader some;
    if (!open(some)) {
      EXPECT_LT(size, 8u);
    } else if (some.next(record) == Next::kRecord) {
      EXPECT_EQ(record.name, "one");
      EXPECT_EQ(some.next(record), Next::kNothingYet) << size;
    }
    std::ofstream(file(), std::ios::binary) << all;
  }
}

TEST_F(CodeLaneFile, StopsForGoodWhereABitIsWrong) {
  load(1, "one");
  load(2, "two");
  const std::string all = folder.read(kCodeFile);
  for (std::size_t bit = 0; bit < all.size() * 8; bit += 3) {
    std::string damaged = all;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    std::ofstream(file(), std::ios::binary) << damaged;
    CodeLaneReader some;
    const bool opened = open(some);
    EXPECT_EQ(opened, bit >= 64);
    int records = 0;
    while (opened && some.next(record) == Next::kRecord) ++records;
    EXPECT_LT(records, 2) << bit;
    EXPECT_NE(some.next(record), Next::kRecord);
  }
}

TEST_F(CodeLaneFile, TellsThatThereIsNoRoom) {
  TemporaryFolder full;
  full.device = "/dev/full";
  CodeLane other;
  EXPECT_EQ(other.begin({}, full), Status::kNoSpace);
}

}  // namespace
}  // namespace jitquill::lanes
