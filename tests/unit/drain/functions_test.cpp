#include "agent/drain/functions.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::drain {
namespace {

using lanes::CodeLane;
using lanes::CodeLaneReader;

class Numbered : public testing::Test {
 protected:
  Numbered() {
    EXPECT_EQ(lane.begin({}, folder), Status::kOk);
    EXPECT_TRUE(reader.open(open_lane()));
    functions.open(&reader);
  }
  int open_lane() const { return ::open((folder.path / "code").c_str(), O_RDONLY | O_CLOEXEC); }
  void load(std::uint64_t id, std::uint64_t when_ns, std::uint64_t address, std::size_t size,
            std::string_view name) {
    static const std::vector<std::uint8_t> kBytes(1'000);
    CodeLoad code;
    code.id = id;
    code.when_ns = when_ns;
    code.address = address;
    code.bytes = {kBytes.data(), size};
    code.name = name;
    code.file = "/a.nib";
    Written written;
    EXPECT_EQ(lane.load(code, written), Status::kOk);
  }
  std::vector<std::string> defined() {
    std::vector<std::string> names;
    functions.define_new([&](const FunctionInfo& info) {
      EXPECT_EQ(info.number, told++);
      names.push_back(std::string(info.name) + " " + std::to_string(info.code_id) + " " +
                      std::to_string(info.address));
    });
    return names;
  }
  using Names = std::vector<std::string>;

  TemporaryFolder folder;
  CodeLane lane;
  CodeLaneReader reader;
  Functions functions;
  FunctionNumber told = 0;
};

TEST_F(Numbered, DefinesEachOnceInTheOrderOfFirstSight) {
  load(1, 5, 0x1000, 10, "one");
  load(2, 6, 0x2000, 10, "two");
  EXPECT_EQ(lane.function(3, "three", "x.js", 9), Status::kOk);
  functions.read_news();
  EXPECT_EQ(functions.by_id(3), 0u);
  EXPECT_EQ(functions.by_id(1), 1u);
  EXPECT_EQ(functions.by_id(3), 0u);
  EXPECT_EQ(defined(), (Names{"three 3 0", "one 1 4096"}));
  EXPECT_EQ(functions.by_id(2), 2u);
  EXPECT_TRUE(functions.has_new());
  EXPECT_EQ(defined(), Names{"two 2 8192"});
  EXPECT_EQ(defined(), Names{});
  EXPECT_EQ(functions.nameless(), 0u);
}

// For who begins in the middle.
TEST_F(Numbered, TellsAgainOfFunctionsAndOfCodeThatLives) {
  load(1, 5, 0x1000, 10, "overlapped");
  load(2, 6, 0x2000, 10, "moved");
  load(3, 7, 0x3000, 10, "unloaded");
  load(4, 8, 0x0ff8, 100, "newer");
  Written written;
  CodeMove move;
  move.id = 2;
  move.when_ns = 9;
  move.from = 0x2000;
  move.to = 0x4000;
  move.size = 10;
  EXPECT_EQ(lane.move(move, written), Status::kOk);
  CodeUnload unload;
  unload.id = 3;
  unload.when_ns = 10;
  EXPECT_EQ(lane.unload(unload), Status::kOk);
  EXPECT_EQ(lane.function(5, "without code", "", 0), Status::kOk);
  functions.read_news();
  const std::uint64_t so_far = reader.read_to();
  load(6, 11, 0x5000, 10, "later");
  functions.read_news();
  EXPECT_EQ(functions.by_id(77), 0u);
  EXPECT_EQ(functions.by_id(2), 1u);
  EXPECT_EQ(defined(), (Names{"jit_77 77 0", "moved 2 8192"}));
  Names again, code;
  functions.define_again(0, [&](const FunctionInfo& info) { again.emplace_back(info.name); });
  EXPECT_EQ(again, (Names{"jit_77", "moved"}));
  EXPECT_EQ(functions.nameless(), 1u);
  const auto tell = [&](const lanes::CodeRecord& record) {
    code.push_back(std::string(record.name) + " " + std::to_string(record.address) + " " +
                   std::to_string(record.when_ns));
  };
  functions.tell_live_code(0, so_far, tell);
  EXPECT_EQ(code, (Names{"newer 4088 8", "moved 16384 9"}));
  code.clear();
  functions.tell_live_code(so_far, reader.read_to(), tell);
  EXPECT_EQ(code, Names{"later 20480 11"});
}

// A reader of a stream who comes while a definition is told to the others.
TEST_F(Numbered, TellsAgainOfTheOneThatIsBeingTold) {
  load(1, 5, 0x1000, 10, "one");
  load(2, 6, 0x2000, 10, "two");
  functions.read_news();
  EXPECT_EQ(functions.by_id(1), 0u);
  EXPECT_EQ(functions.by_id(2), 1u);
  std::vector<std::size_t> seen;
  functions.define_new([&](const FunctionInfo&) {
    std::size_t count = 0;
    functions.define_again(0, [&](const FunctionInfo&) { ++count; });
    seen.push_back(count);
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2}));
}

// A child of fork goes on with its parent's ids.
TEST_F(Numbered, IdsMayBeginAnywhere) {
  constexpr std::uint64_t kBegin = 5'000'000;
  load(kBegin, 5, 0x1000, 10, "child's");
  load(kBegin - 3, 6, 0x2000, 10, "queued");
  load(kBegin + (std::uint64_t{1} << 40), 7, 0x3000, 10, "damaged");
  functions.read_news();
  EXPECT_EQ(functions.by_id(kBegin), 0u);
  EXPECT_EQ(functions.by_id(kBegin - 3), 1u);
  EXPECT_EQ(functions.by_id(7), 2u);
  EXPECT_EQ(defined(), (Names{"child's 5000000 4096", "queued 4999997 8192", "jit_7 7 0"}));
}

TEST_F(Numbered, NamesWhatTheCodeLaneDoesNotHave) {
  load(1, 5, 0x1000, 10, "one");
  functions.read_news();
  EXPECT_EQ(functions.by_id(0xFFFF'FFFF'FFFF), 0u);  // what no id can be
  EXPECT_EQ(functions.by_id(77), 1u);
  EXPECT_EQ(functions.by_id(0), 2u);
  EXPECT_EQ(functions.by_id(77), 1u);
  EXPECT_EQ(functions.by_address(0x7fff'0000'1234, 9), 3u);
  EXPECT_EQ(functions.by_address(0x7fff'0000'1234, 99), 3u);
  EXPECT_EQ(defined(), (Names{"jit_281474976710655 281474976710655 0", "jit_77 77 0", "0x0 0 0",
                              "0x7fff00001234 0 140733193392692"}));
  EXPECT_EQ(functions.nameless(), 4u);
}

TEST_F(Numbered, ResolvesAnAddressByTheTime) {
  load(1, 10, 0x1000, 0x100, "first");
  EXPECT_EQ(lane.unload({.id = 1, .when_ns = 20, .address = 0x1000, .size = 0x100}), Status::kOk);
  load(2, 30, 0x1000, 0x80, "second");
  load(3, 40, 0x1000, 0x40, "third");  // nobody said that the second is gone
  load(4, 5, 0x2000, 0x100, "mover");
  CodeMove move;
  move.id = 4;
  move.when_ns = 50;
  move.to = 0x3000;
  move.size = 0x100;
  Written written;
  EXPECT_EQ(lane.move(move, written), Status::kOk);
  functions.read_news();
  const auto name = [&](std::uint64_t address, std::uint64_t when_ns) {
    const FunctionNumber number = functions.by_address(address, when_ns);
    static std::map<FunctionNumber, std::string> names;
    functions.define_new([&](const FunctionInfo& info) { names[info.number] = info.name; });
    return names[number];
  };
  EXPECT_EQ(name(0x1000, 15), "first");
  EXPECT_EQ(name(0x1080, 15), "first");
  EXPECT_EQ(name(0x1000, 25), "0x1000");
  EXPECT_EQ(name(0x1000, 35), "second");
  EXPECT_EQ(name(0x1000, 45), "third");
  EXPECT_EQ(name(0x1050, 45), "second");
  EXPECT_EQ(name(0x2010, 49), "mover");
  EXPECT_EQ(name(0x2010, 50), "0x2010");
  EXPECT_EQ(name(0x3010, 50), "mover");
  EXPECT_EQ(name(0x3100, 60), "0x3100");
}

TEST_F(Numbered, GoesOnFromItsState) {
  load(1, 5, 0x1000, 10, "one");
  load(2, 6, 0x2000, 10, "two");
  functions.read_news();
  for (const std::uint64_t id : {2u, 99u}) (void)functions.by_id(id);
  Bytes first, second;
  functions.put_new(first);
  (void)functions.by_address(0x9999, 1);
  functions.put_new(second);

  CodeLaneReader other_reader;
  ASSERT_TRUE(other_reader.open(open_lane()));
  Functions other;
  other.open(&other_reader);
  other.read_news();
  ByteSource one(first.view()), two(second.view());
  ASSERT_TRUE(other.apply(one));
  ASSERT_TRUE(other.apply(two));
  EXPECT_FALSE(other.has_new());
  EXPECT_EQ(other.by_id(2), 0u);
  EXPECT_EQ(other.by_id(99), 1u);
  EXPECT_EQ(other.by_address(0x9999, 1), 2u);
  EXPECT_EQ(other.by_id(1), 3u);
  for (std::size_t size = 0; size < first.size(); ++size) {
    ByteSource cut(first.view().first(size));
    EXPECT_FALSE(Functions().apply(cut));
  }
}

TEST(NumberTable, KeepsWhatWasPut) {
  NumberTable table;
  std::map<std::uint64_t, std::uint32_t> truth;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    const std::uint64_t key = random() % 4'000 << (random() % 2 * 32);
    ASSERT_TRUE(table.put(key, i));
    truth[key] = i;
  }
  for (const auto& [key, value] : truth) EXPECT_EQ(table.find(key), value);
  EXPECT_EQ(table.find(123'456'789), NumberTable::kNone);
}

}  // namespace
}  // namespace jitquill::drain
