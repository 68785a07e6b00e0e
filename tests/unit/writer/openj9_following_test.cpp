// Who gets an OpenJ9 trace record by record, and what goes on in another file.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/writer/openj9_story.hpp"

namespace jitquill {
namespace {

using namespace openj9_story;

struct Follower final : RecordTaker {
  void begin(std::span<const std::uint8_t> header) noexcept override { put(header); }
  void take(std::uint64_t thread, std::span<const std::uint8_t> record) noexcept override {
    put(record);
    threads.push_back(thread);
  }
  void lose(std::uint64_t thread, std::uint64_t bytes) noexcept override {
    lost.push_back({threads.size(), thread, bytes});
  }
  void put(std::span<const std::uint8_t> some) { all.insert(all.end(), some.begin(), some.end()); }

  struct Lost {
    std::size_t place;  // behind so many records
    std::uint64_t thread, bytes;
    bool operator==(const Lost&) const = default;
  };
  std::string all;
  std::vector<std::uint64_t> threads;
  std::vector<Lost> lost;
};

// What the file has, record by record; a loss where it happened, and how much is gone.
TEST(OpenJ9Follower, IsHandedOverRecordByRecord) {
  Follower follower;
  RunSettings settings;
  settings.openj9_taker = &follower;
  Bytes out;
  tell(*begun(settings, out), out);
  EXPECT_EQ(follower.all, openj9::tests::chars(out));
  EXPECT_EQ(follower.threads, (std::vector<std::uint64_t>{11, 11, 0, 1ULL << 32 | 12}));
  EXPECT_EQ(follower.lost, (std::vector<Follower::Lost>{{1, 11, 8192}}));
}

// A buffer that has no room: what did not get into it is told as lost, and no more.
TEST(OpenJ9Follower, TellsTheFollowerWhatHadNoMemory) {
  Follower follower;
  RunSettings settings;
  settings.openj9_taker = &follower;
  Bytes out;
  const auto sink = begun(settings, out);
  define(*sink, 0, "f", out);
  RunStory story;
  for (std::uint64_t i = 0; i < 2000; ++i) story.enter(kStart + i, 0).leave(kStart + i);
  std::vector<std::uint8_t> little(9000);
  Bytes full(little);
  EXPECT_EQ(sink->batch(story.batch({0, 11, "nib"}), full), Status::kNoMemory);
  EXPECT_EQ(sink->end(0, out), Status::kOk);
  EXPECT_EQ(follower.all, openj9::tests::chars(out));
  ASSERT_EQ(follower.lost.size(), 1u);
  EXPECT_GE(follower.lost[0].bytes, 2 * 8192u);
}

// In three files, each of which is read alone; one of them is begun twice, since the first time could not be
// written.
TEST(OpenJ9SinkText, GoesOnInOtherFiles) {
  Bytes out;
  const auto sink = begun({}, out);
  const std::size_t header = openj9_reader::read(openj9::tests::chars(out)).header.size;
  std::string all;
  Lines dates;
  define(*sink, 0, "f", out);
  for (std::uint64_t file = 0; file < 3; ++file) {
    const std::uint64_t base = kStart + file * 90'000'000'000'000;
    RunStory story;
    for (std::uint64_t i = 0; i < 600; ++i) story.enter(base + i, 0).leave(base + i);
    const std::size_t before = out.size();
    story.other(RunEventKind::kThreadEnd, base + 600);
    const Batch batch = story.batch({static_cast<std::uint32_t>(file), 11, "nib"});
    const std::size_t most = sink->most_bytes(batch);
    EXPECT_EQ(sink->batch(batch, out), Status::kOk);
    EXPECT_EQ(file == 2 ? sink->end(0, out) : sink->leave_off(out), Status::kOk);
    EXPECT_LE(out.size() - before, most);
    const auto text = print(out);
    EXPECT_NE(text.text.find("-x\\nforged\n"), text.text.npos);
    const Lines lines = openj9::tests::printed(text);
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& l) { return l.find("Entry") != l.npos; }), 600);
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& l) { return l.find("code loaded") != l.npos; }),
              file == 0 ? 0 : 1);
    for (const std::string& line : lines) {
      if (line.find(" UTC, ") != line.npos) dates.push_back(line.substr(line.find("20"), 10));
    }
    all += openj9::tests::chars(out).substr(all.empty() ? 0 : header);
    for (int times = file == 0 ? 2 : 1; times > 0 && file != 2; --times) {
      out.clear();
      EXPECT_EQ(sink->begin_again(out), Status::kOk);
      define(*sink, 0, "f", out);
      EXPECT_EQ(sink->code({CodeNews::Kind::kLoad, 7, kStart - 5, 0x1000, 64, "f", "", 0}, out), Status::kOk);
    }
  }
  EXPECT_EQ(dates, (Lines{"2026-12-01", "2026-12-01", "2026-12-02", "2026-12-02", "2026-12-03"}));
  Bytes joined;
  joined.raw(std::string_view(all));
  EXPECT_EQ(openj9::tests::printed(print(joined)).size(), 5 + 2 + 3 * (1200 + 2u));
}

}  // namespace
}  // namespace jitquill
