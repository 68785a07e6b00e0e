// Logs that begin in the middle are read alone, and know all that goes on.
#include <set>

#include "tests/unit/writer/eventlog_story.hpp"

namespace jitquill {
namespace {

using Kind = RuntimeEventKind;
using eventlog_reader::File;
using Names = std::vector<std::string>;

constexpr std::uint64_t kStart = tests::kLogStart;
constexpr std::uint16_t kNone = eventlog_reader::kNoCapability;

class EventlogGoesOn : public tests::EventlogStory {
 protected:
  EventlogGoesOn() { begin({.may_go_on = true}); }
  File leave_off() {
    EXPECT_EQ(sink->leave_off(out), Status::kOk);
    return read();
  }
  void begin_again() {
    out.clear();
    EXPECT_EQ(sink->begin_again(out), Status::kOk);
  }
  File read() {
    File file = eventlog_reader::read(tests::text_of(out));
    EXPECT_EQ(describe(file.violations), "");
    EXPECT_EQ(file.backward_steps, 0u);
    return file;
  }
};

TEST_F(EventlogGoesOn, WithWhatWasToldAtTheStart) {
  (void)leave_off();
  const auto all = names(read(), kNone);
  begin_again();
  EXPECT_EQ(names(end(100), kNone),
            (Names{"CAPSET_CREATE", "CAPSET_CREATE", "WALL_CLOCK_TIME", "OSPROCESS_PID", "OSPROCESS_PPID",
                   "RTS_IDENTIFIER", "PROGRAM_ARGS", "300", "CAPSET_DELETE", "CAPSET_DELETE"}));
  EXPECT_EQ(all.back(), "LOG_MSG");
}

TEST_F(EventlogGoesOn, WithItsThreadsAndWhatTheyDo) {
  tell(0, 10, {Kind::kThreadCreated, {7}});
  tell(0, 11, {Kind::kThreadNamed, {7}, "seven"});
  tell(0, 12, {Kind::kThreadCreated, {8}});
  tell(0, 13, {Kind::kThreadNamed, {8}, "eight"});
  tell(0, 20, {Kind::kThreadRunning, {8}});
  tell(0, 21, {Kind::kThreadFinished, {8}});
  tell(0, 30, {Kind::kThreadRunning, {7}});
  tell(0, 40, {Kind::kGcBegin, {0}});
  flush(0);
  call(1, 35, 36);
  flush(1);
  const File before = leave_off();
  EXPECT_TRUE(before.has_end);
  EXPECT_EQ(before.named("STOP_THREAD").back().numbers[0], 7u);
  EXPECT_EQ(before.named("GC_END").size(), 1u);
  begin_again();
  tell(0, 50, {Kind::kGcEnd, {}});
  tell(0, 60, {Kind::kThreadStopped, {7, 1, 0}});
  tell(0, 61, {Kind::kThreadRunnable, {8}});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(names(file, 0),
            (Names{"CREATE_THREAD", "THREAD_LABEL", "RUN_THREAD", "GC_START", "GC_END", "STOP_THREAD"}));
  EXPECT_EQ(file.named("CREATE_THREAD")[0].when_ns, 10u);
  EXPECT_EQ(file.named("THREAD_LABEL")[0].texts, Names{"seven"});
  EXPECT_EQ(file.named("RUN_THREAD")[0].when_ns, 40u);
  EXPECT_EQ(file.named("CAP_CREATE").size(), 2u);
  EXPECT_EQ(file.named("TASK_CREATE").size(), 2u);
  EXPECT_EQ(refused(), 1u);  // of a thread that has finished, before
}

// Nobody told of its creation, which would have to stand in the file before.
TEST_F(EventlogGoesOn, WithThreadsThatWereNeverCreated) {
  tell(0, 30, {Kind::kThreadRunning, {7}});
  flush(0);
  EXPECT_EQ(leave_off().named("CREATE_THREAD")[0].when_ns, 29u);
  begin_again();
  tell(0, 60, {Kind::kThreadStopped, {7, 1, 0}});
  flush(0);
  EXPECT_EQ(end(100).named("CREATE_THREAD").size(), 1u);
}

TEST_F(EventlogGoesOn, WithTheNewestOfWhatWasDefined) {
  tell(0, 1, {Kind::kRuntimeNamed, {}, "runtime"});
  tell(0, 2, {Kind::kHeapInfo, {2, 0, 4096, 1 << 20, 4096}});
  tell(0, 3, {Kind::kCounterNamed, {5}, "old"});
  tell(0, 4, {Kind::kCounterNamed, {6}, "six"});
  tell(0, 5, {Kind::kCounterNamed, {5}, "new"});
  tell(0, 6, {Kind::kHeapProfileBegin, {4, 1'000'000}});
  flush(0);
  (void)leave_off();
  begin_again();
  const File file = end(100);
  EXPECT_EQ(file.named("RTS_IDENTIFIER").back().texts, Names{"runtime"});
  EXPECT_EQ(file.named("HEAP_INFO_GHC").size(), 1u);
  EXPECT_EQ(file.named("HEAP_PROF_BEGIN").size(), 1u);
  std::multiset<std::string> counters;
  for (const auto& event : file.events) {
    if (event.number == 310) counters.insert(event.texts[0].substr(4));
  }
  EXPECT_EQ(counters, (std::multiset<std::string>{"new", "six"}));
}

TEST_F(EventlogGoesOn, WithCapabilitiesAsTheyAre) {
  for (const std::uint32_t i : {0u, 1u}) {
    call(i, 10 + i, 20);
    if (i == 0) thread(i).other(RunEventKind::kThreadEnd, kStart + 30);
    flush(i);
  }
  (void)leave_off();
  begin_again();
  thread(2).enter(kStart + 50, 1).leave(kStart + 60);
  flush(2);
  const File file = end(100);
  EXPECT_EQ(file.named("CAP_CREATE").size(), 2u);  // one that nobody had is made anew
  EXPECT_EQ(file.named("CAP_DISABLE").size() + file.named("CAP_ENABLE").size(), 0u);
  EXPECT_EQ(file.named("CREATE_THREAD").size(), 2u);
  EXPECT_EQ(file.named("TASK_CREATE").size(), 2u);
}

// A late reader and those that were there before are told the same from then on.
TEST_F(EventlogGoesOn, WithoutAChangeToTheOthers) {
  tell(0, 30, {Kind::kThreadRunning, {7}});
  flush(0);
  EXPECT_EQ(sink->settle(out), Status::kOk);
  Bytes late;
  EXPECT_EQ(sink->begin_again(late), Status::kOk);
  const std::size_t common = out.size();
  tell(0, 60, {Kind::kThreadStopped, {7, 1, 0}});
  flush(0);
  const File whole = end(100);
  late.raw(out.view().subspan(common));
  const File file = eventlog_reader::read(tests::text_of(late));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(names(file, 0), (Names{"CREATE_THREAD", "RUN_THREAD", "STOP_THREAD"}));
  EXPECT_EQ(names(whole, 0), (Names{"RUN_THREAD", "CREATE_THREAD", "STOP_THREAD"}));
}

TEST_F(EventlogGoesOn, BehindARecovery) {
  tell(0, 10, {Kind::kThreadCreated, {7}});
  tell(0, 11, {Kind::kThreadNamed, {7}, "seven"});
  flush(0);
  Bytes first, changes;
  sink->put_all(first);
  tell(0, 12, {Kind::kThreadNamed, {7}, "other"});
  tell(0, 20, {Kind::kThreadRunning, {7}});
  flush(0);
  sink->put_changes(changes);
  sink.reset(make_eventlog_sink());
  ASSERT_TRUE(sink->apply(first.view()));
  ASSERT_TRUE(sink->apply(changes.view()));
  begin_again();
  const File file = end(100);
  EXPECT_EQ(file.named("THREAD_LABEL")[0].texts, Names{"other"});
  EXPECT_EQ(file.named("RUN_THREAD").size(), 1u);
}

TEST_F(EventlogGoesOn, OnlyIfItWasToBe) {
  begin({});
  Bytes other;
  EXPECT_EQ(sink->begin_again(other), Status::kOff);
}

}  // namespace
}  // namespace jitquill
