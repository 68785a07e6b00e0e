// What becomes of batches in an OpenJ9 trace, as the reader that was written from the specification prints
// it.
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/writer/openj9_story.hpp"

namespace jitquill {

namespace {

using namespace openj9_story;

class OpenJ9Sink : public testing::TestWithParam<bool> {};

TEST(OpenJ9SinkText, HasAllThatHappened) {
  Bytes out;
  tell(*begun({}, out), out);
  const auto text = print(out);
  EXPECT_NE(text.text.find("jitquill, process 4711\n"), text.text.npos);
  EXPECT_NE(text.text.find("program\n-x\\nforged\n"), text.text.npos);
  EXPECT_NE(text.text.find("Num Processors:      3\n"), text.text.npos);
  EXPECT_NE(text.text.find("openj9.type=external\n        jq=9\n        jqm=9\n        hooks=*\n"),
            text.text.npos);
  EXPECT_EQ(
      openj9::tests::printed(text),
      (Lines{
          "03:04:05.000000000 *0x0000000000000000 jq.0                Event       2026-12-01 UTC, process "
          "4711",
          "03:04:05.000000000  0x0000000000000000 jq.6                Event       code loaded at 0x1000, 64 "
          "bytes, id 7: fib, f.nib:3",
          "03:04:05.000000002  0x0000000000000000 jq.7                Event       code moved to 0x2000, 64 "
          "bytes, id 7",
          "03:04:05.000000010 *0x000000000000000b jq.3                Event       thread begins: nib, tid 11",
          "03:04:05.000000100  0x000000000000000b jqm.0               Entry      >main",
          "03:04:05.000000150 *0x000000010000000c jqm.0               Entry      >fib?",
          "03:04:05.000000160  0x000000010000000c jqm.2               Exit       <fib?, tail call",
          "03:04:05.000000160  0x000000010000000c jqm.0               Entry      >main",
          "03:04:05.000000170  0x000000010000000c jq.9                Event         event 2000, 3 bytes",
          "03:04:05.000000200 *0x000000000000000b jqm.0               Entry        >fib?",
          "03:04:05.000000200  0x000000000000000b jqm.7               Event           called by main",
          "03:04:05.000000250  0x000000000000000b jq.28               Event           collector, phase has "
          "nothing to do",
          "03:04:05.000000260  0x000000000000000b jq.38               Event           heap size, size 4096 "
          "bytes",
          "03:04:05.000000270  0x000000000000000b jq.46               Event           marker: half\\tdone",
          "03:04:05.000000300  0x000000000000000b jqm.3               Exit         *<fib?, unwound",
          "03:04:05.000000400  0x000000000000000b jq.1                Exception    * 17 records lost since "
          "03:04:05.000000350",
          "03:04:05.000000500  0x000000000000000b jqm.1               Exit       <main",
          "03:04:05.000000501  0x000000000000000b jq.4                Event       thread ends: nib, tid 11",
          "03:04:05.000000501  0x000000000000000b dg.262              Debug       end of the thread's trace",
          "03:04:05.000000600 *0x000000010000000c jqm.5               Exit       <main, process end",
          "03:04:05.000000900 *0x0000000000000000 jq.8                Event       code unloaded from 0x2000, "
          "64 bytes, id 7"}));
}

TEST(OpenJ9SinkText, HasOnlyWhatWasChosen) {
  Bytes out;
  tell(*begun(selected("jqm:5"), out), out);
  const auto text = print(out);
  for (const std::string& line : openj9::tests::printed(text))
    EXPECT_TRUE(line.find(" jqm.") != line.npos || line.find("records lost") != line.npos ||
                line.find(" dg.262 ") != line.npos)
        << line;
}

// What of a trace is whole is put by who begins it; what a killed process remembered goes on in another,
// wherever that was.
TEST_P(OpenJ9Sink, GoesOnWhereAKilledOneWas) {
  const RunSettings settings = selected("*:9", GetParam());
  constexpr int kBatches = 12;
  const auto batch = [](RunSink& sink, int i, Bytes& out) {
    const auto number = static_cast<FunctionNumber>(i);
    define(sink, number, "function_" + std::to_string(i), out);
    EXPECT_EQ(sink.code({CodeNews::Kind::kUnload, number, kStart + number, 0x2000, 64, "", "", 0}, out),
              Status::kOk);
    RunStory story;
    const std::uint64_t base = kStart + number * 3'000'000'000ULL;
    for (std::uint64_t k = 0; k < 140; ++k) story.enter(base + 2 * k, number).leave(base + 2 * k + 1);
    if (i == 5) story.other(RunEventKind::kLost, base + 300, base, 3);
    if (i == 7) story.other(RunEventKind::kThreadEnd, base + 301);
    const std::uint32_t thread = number % 3;
    EXPECT_EQ(sink.batch(story.batch({thread, 11 + thread, i > 6 ? "later" : "nib"}), out), Status::kOk);
  };
  const auto chars = [](const Bytes& out) { return std::string(openj9::tests::chars(out)); };
  Bytes undisturbed;
  {
    const auto sink = begun(settings, undisturbed);
    for (int i = 0; i < kBatches; ++i) batch(*sink, i, undisturbed);
    EXPECT_EQ(sink->end(0, undisturbed), Status::kOk);
  }
  (void)print(undisturbed);
  for (int killed_at = 0; killed_at <= kBatches; ++killed_at) {
    for (const int whole_at : {-1, 4}) {
      Bytes out;
      std::unique_ptr<RunSink> next(make_openj9_sink());
      const auto apply = [&](RunSink& sink, bool whole) {
        Bytes state;
        whole ? sink.put_all(state) : sink.put_changes(state);
        ASSERT_TRUE(next->apply(state.view()));
        ASSERT_TRUE(next->apply(state.view()));
      };
      const auto killed = begun(settings, out);
      apply(*killed, true);
      for (int i = 0; i < killed_at; ++i) {
        batch(*killed, i, out);
        apply(*killed, i == whole_at);
      }
      for (int i = killed_at; i < kBatches; ++i) batch(*next, i, out);
      EXPECT_EQ(next->end(0, out), Status::kOk);
      ASSERT_TRUE(chars(out) == chars(undisturbed)) << killed_at;
    }
  }
}

TEST_P(OpenJ9Sink, TakesNoDamagedState) {
  Bytes out, state;
  const auto sink = begun(selected("*:9", GetParam()), out);
  define(*sink, 0, "f", out);
  RunStory story;
  story.enter(kStart + 1, 0);
  EXPECT_EQ(sink->batch(story.batch({0, 11, "nib"}), out), Status::kOk);
  sink->put_all(state);
  for (std::size_t size = 0; size < state.size(); size += GetParam() ? 97 : 1) {
    const std::unique_ptr<RunSink> other(make_openj9_sink());
    EXPECT_FALSE(other->apply(state.view().first(size))) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, OpenJ9Sink, testing::Bool(),
                         [](const auto& type) { return type.param ? "internal" : "external"; });

// The newest 8 KiB of each thread: what is there has no gap up to the end.
TEST(OpenJ9SinkText, OfTypeInternalHasTheNewest) {
  Bytes out;
  const auto sink = begun(selected("*:9", true), out);
  const std::size_t header = out.size();
  define(*sink, 0, "f", out);
  constexpr std::uint64_t kCalls = 5000;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    RunStory story;
    story.enter(kStart + 1'000'000 * i, 0).leave(kStart + 1'000'000 * i + 1);
    EXPECT_EQ(sink->batch(story.batch({0, 11, "nib"}), out), Status::kOk);
  }
  EXPECT_EQ(out.size(), header);
  EXPECT_EQ(sink->end(0, out), Status::kOk);
  (void)print(out);
  const auto entries = openj9_reader::read(openj9::tests::chars(out)).of(11);
  ASSERT_GT(entries.size(), 400u);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t back = entries.size() - 1 - i;
    EXPECT_EQ(entries[i].ticks, kStart + 1'000'000 * (kCalls - 1 - back / 2) + (1 - back % 2));
  }
}

// Collections and losses of threads whose rings have gone round since, with whose they are, and times as they
// were.
TEST(OpenJ9SinkText, OfTypeInternalHasRareEventsThatAreOlder) {
  Bytes out;
  const auto sink = begun(selected("*:9", true), out);
  define(*sink, 0, "f", out);
  const auto begin = jitquill::tests::packed({Kind::kGcBegin, {1}});
  for (const std::uint32_t thread : {1u, 0u}) {  // the later one first
    RunStory story;
    story.post(kStart + 100 + thread, static_cast<std::uint32_t>(Kind::kGcBegin), begin);
    story.other(RunEventKind::kLost, kStart + 200 + thread, kStart + 150, 17);
    for (std::uint64_t i = 0; i < 5000; ++i) story.enter(kStart + 1000 + i, 0).leave(kStart + 1000 + i);
    EXPECT_EQ(sink->batch(story.batch({thread, 11 + thread, "nib"}), out), Status::kOk);
  }
  EXPECT_EQ(sink->code({CodeNews::Kind::kMove, 7, kStart + 300, 0x2000, 64, "", "", 0}, out), Status::kOk);
  EXPECT_EQ(sink->end(0, out), Status::kOk);
  Lines rare;
  for (const std::string& line : openj9::tests::printed(print(out))) {
    if (line.find("0x0000000000000000") != line.npos && line.find(" UTC, ") == line.npos)
      rare.push_back(line.substr(15, 3) + line.substr(71));
  }
  EXPECT_EQ(rare, (Lines{"101of thread 0x10000000c", "101collection begins, generation 1",
                         "201of thread 0x10000000c", "201 17 records lost since 03:04:05.000000150",
                         "100of thread 0xb", "100collection begins, generation 1", "200of thread 0xb",
                         "200 17 records lost since 03:04:05.000000150", "300of thread 0x0",
                         "300code moved to 0x2000, 64 bytes, id 7"}));
}

TEST(OpenJ9SinkText, TellsTheDateAtMidnight) {
  Bytes out;
  const auto sink = begun({}, out);
  define(*sink, 0, "f", out);
  for (const std::uint64_t hours : {1u, 20u, 22u, 45u}) {
    RunStory story;
    story.enter(kStart + hours * 3'600'000'000'000, 0).leave(kStart + hours * 3'600'000'000'000);
    EXPECT_EQ(sink->batch(story.batch({0, 11, "nib"}), out), Status::kOk);
  }
  EXPECT_EQ(sink->end(0, out), Status::kOk);
  Lines dates;
  for (const std::string& line : openj9::tests::printed(print(out))) {
    if (line.find(" UTC, ") != line.npos)
      dates.push_back(line.substr(0, 8) + line.substr(line.find("20"), 10));
  }
  EXPECT_EQ(dates, (Lines{"03:04:052026-12-01", "01:04:052026-12-02", "00:04:052026-12-03"}));
}

// Nowhere to put a record: it is lost, told, and the next one is whole.
TEST(OpenJ9SinkText, TellsOfRecordsThatHadNoMemory) {
  Bytes out;
  const auto sink = begun({}, out);
  define(*sink, 0, "f", out);
  RunStory story;
  for (std::uint64_t i = 0; i < 2000; ++i) story.enter(kStart + i, 0).leave(kStart + i);
  std::vector<std::uint8_t> little(9000);
  Bytes full(little);
  EXPECT_EQ(sink->batch(story.batch({0, 11, "nib"}), full), Status::kNoMemory);
  EXPECT_EQ(sink->end(0, out), Status::kOk);
  const auto text = print(out);
  EXPECT_NE(text.text.find("records of this trace were lost"), text.text.npos);
  const auto file = openj9_reader::read(openj9::tests::chars(out));
  EXPECT_GE(file.records.back().lost, 2u);
}

TEST(TraceSelection, TakesTheLastPartThatFits) {
  TraceSelection selection;
  EXPECT_EQ(selection.level_of("anything"), 9);
  EXPECT_EQ(selection.set("*:3,jq*:5,jqm:0"), nullptr);
  EXPECT_EQ(selection.level_of("own"), 3);
  EXPECT_EQ(selection.level_of("jq"), 5);
  EXPECT_EQ(selection.level_of("jqm"), 0);
  EXPECT_EQ(selection.set("a*b*:1"), nullptr);
  EXPECT_EQ(selection.level_of("axbyy"), 1);
  EXPECT_EQ(selection.level_of("ax"), TraceSelection::kOff);
  for (const char* const bad :
       {"", "jq", "jq:", "jq:10", ":3", "jq:a", "jq:3,,x:1", "a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1"})
    EXPECT_NE(selection.set(bad), nullptr) << bad;
  EXPECT_EQ(selection.level_of("axbyy"), 1);
}

}  // namespace
}  // namespace jitquill
