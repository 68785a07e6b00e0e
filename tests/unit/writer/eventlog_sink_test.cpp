// What becomes of batches in an eventlog, as the reader that was written from the specification understands
// it.
#include <random>

#include "tests/unit/writer/eventlog_story.hpp"
#include "writer/eventlog/event.hpp"

namespace jitquill {
namespace {

using Kind = RuntimeEventKind;
using eventlog_reader::Event;
using eventlog_reader::File;
using tests::RunStory;
using Names = std::vector<std::string>;

constexpr std::uint64_t kStart = tests::kLogStart;
constexpr std::uint16_t kNone = eventlog_reader::kNoCapability;

class EventlogSink : public tests::EventlogStory {};

TEST_F(EventlogSink, BeginsAndEndsAsGhcDoes) {
  const File file = end(100);
  EXPECT_EQ(names(file, kNone),
            (Names{"CAPSET_CREATE", "CAPSET_CREATE", "WALL_CLOCK_TIME", "OSPROCESS_PID", "OSPROCESS_PPID",
                   "RTS_IDENTIFIER", "PROGRAM_ARGS", "300", "CAPSET_DELETE", "CAPSET_DELETE"}));
  EXPECT_EQ(file.named("WALL_CLOCK_TIME")[0].numbers, (std::vector<std::uint64_t>{1, 1'700'000'000, 5}));
  EXPECT_EQ(file.named("WALL_CLOCK_TIME")[0].when_ns, 0u);
  EXPECT_EQ(file.named("PROGRAM_ARGS")[0].texts, (Names{"program", "-x"}));
  EXPECT_EQ(file.named("OSPROCESS_PPID")[0].numbers[1], 17u);
}

TEST_F(EventlogSink, HasAThreadAndACapabilityForEachThatCalls) {
  thread(0).other(RunEventKind::kThreadBegin, kStart + 5).enter(kStart + 10, 3).enter(kStart + 20, 4);
  thread(0).leave(kStart + 30, FrameEnd::kUnwound);
  flush(0);
  thread(0).leave(kStart + 40).other(RunEventKind::kThreadEnd, kStart + 50);
  flush(0);
  const File file = end(100);
  EXPECT_EQ(names(file, 0), (Names{"CREATE_THREAD", "THREAD_LABEL", "RUN_THREAD", "305", "305", "307", "306",
                                   "STOP_THREAD"}));
  EXPECT_EQ(file.named("TASK_CREATE")[0].numbers, (std::vector<std::uint64_t>{1, 0, 100}));
  EXPECT_EQ(file.named("TASK_DELETE").size(), 1u);
  EXPECT_EQ(file.named("CAPSET_ASSIGN_CAP").size(), 2u);
  EXPECT_EQ(file.named("CAPSET_REMOVE_CAP").size(), 2u);
  EXPECT_EQ(file.named("THREAD_LABEL")[0].texts, Names{"name"});
  EXPECT_EQ(file.named("STOP_THREAD")[0].numbers, (std::vector<std::uint64_t>{1, 5, 0}));
  EXPECT_EQ(file.named("STOP_THREAD")[0].when_ns, 50u);
}

TEST_F(EventlogSink, PutsCallsWithTheirFunctionsAndTimes) {
  thread(0).enter(kStart + 10, 0xABCDEF).leave(kStart + 0x123456789A).enter(kStart + 0x123456789B, 1);
  thread(0).leave(kStart + 0x123456789C, FrameEnd::kTailCalled);
  flush(0);
  std::vector<Event> calls;
  for (const Event& event : end(0x1234567900).events) {
    if (event.number >= 305 && event.number <= 307) calls.push_back(event);
  }
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].texts, Names{std::string("\0\xAB\xCD\xEF", 4)});
  EXPECT_EQ(calls[0].when_ns, 10u);
  EXPECT_EQ(calls[1].number, number_of(eventlog::Event::kLeave));
  EXPECT_EQ(calls[1].when_ns, 0x123456789Au);
  EXPECT_EQ(calls[3].texts, Names{std::string("\0\0\0\1\2", 5)});
}

TEST_F(EventlogSink, SaysOnWhichStackCallsAre) {
  thread(0).enter(kStart + 1, 1).enter(kStart + 2, 2, 7).leave(kStart + 3).leave(kStart + 4);
  flush(0);
  thread(0).enter(kStart + 5, 1, 7).leave(kStart + 6);
  flush(0);
  const auto all = names(end(10), 0);
  EXPECT_EQ(Names(all.begin() + 3, all.end() - 1),
            (Names{"305", "308", "305", "306", "308", "306", "308", "305", "306"}));
}

TEST_F(EventlogSink, GivesTheSmallestFreeCapabilityToTheNextThread) {
  for (const std::uint32_t i : {0u, 1u}) {
    call(i, 10 + i, 20);
    thread(i).other(RunEventKind::kThreadEnd, kStart + 30);
    flush(i);
  }
  call(2, 15, 40);  // while they ran, though it is told later
  flush(2);
  call(3, 31, 50);
  flush(3);
  const File file = end(100);
  std::vector<std::uint64_t> of;
  for (const Event& task : file.named("TASK_CREATE")) of.push_back(task.numbers[1]);
  EXPECT_EQ(of, (std::vector<std::uint64_t>{0, 1, 2, 0}));
  EXPECT_EQ(file.named("CAP_CREATE").size(), 3u);
  EXPECT_EQ(file.named("CAP_DISABLE").size(), 2u);
  EXPECT_EQ(file.named("CAP_ENABLE").size(), 1u);
}

TEST_F(EventlogSink, TakesThreadsAsTheRuntimeTells) {
  tell(0, 1, {Kind::kThreadCreated, {7}});
  tell(0, 2, {Kind::kThreadNamed, {7}, "seven"});
  tell(0, 3, {Kind::kThreadRunning, {7}});
  thread(0).enter(kStart + 4, 1).leave(kStart + 5);
  tell(0, 6, {Kind::kThreadStopped, {7, event_word::kStopReason::kHeapFull, 0}});
  tell(0, 7, {Kind::kGcBegin, {0}});
  tell(0, 8, {Kind::kGcSynced, {}});
  tell(0, 9, {Kind::kHeapAllocated, {1000}});
  tell(0, 10, {Kind::kGcEnd, {}});
  tell(0, 11, {Kind::kThreadRunning, {7}});
  tell(0, 12, {Kind::kThreadFinished, {7}});
  tell(0, 13, {Kind::kMarker, {}, "mark"});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(names(file, 0), (Names{"CREATE_THREAD", "THREAD_LABEL", "RUN_THREAD", "305", "306", "STOP_THREAD",
                                   "GC_START", "GC_GLOBAL_SYNC", "HEAP_ALLOCATED", "GC_END", "RUN_THREAD",
                                   "STOP_THREAD", "USER_MARKER"}));
  EXPECT_EQ(file.named("RUN_THREAD")[0].numbers[0], 7u);
  EXPECT_EQ(refused(), 0u);
}

TEST_F(EventlogSink, RefusesWhatCannotBe) {
  tell(0, 1, {Kind::kThreadCreated, {7}});
  tell(0, 2, {Kind::kThreadCreated, {7}});  // twice
  tell(0, 3, {Kind::kThreadStopped, {7, 1, 0}});
  tell(0, 4, {Kind::kThreadRunning, {7}});
  tell(0, 5, {Kind::kThreadRunning, {7}});
  tell(0, 6, {Kind::kThreadRunning, {8}});
  tell(0, 7, {Kind::kGcEnd, {}});
  tell(0, 8, {Kind::kGcPhase, {1}});
  tell(0, 9, {Kind::kThreadFinished, {7}});
  tell(0, 10, {Kind::kThreadRunning, {7}});
  tell(0, 11, {Kind::kThreadWoken, {7, 0}});
  tell(0, 12, {Kind::kGcBegin, {0}});
  tell(0, 13, {Kind::kGcBegin, {0}});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(names(file, 0), (Names{"CREATE_THREAD", "RUN_THREAD", "STOP_THREAD", "GC_START", "GC_END"}));
  EXPECT_EQ(refused(), 9u);
  EXPECT_EQ(file.named("LOG_MSG").size(), 1u);
}

// As threads' batches come: the other one's first.
TEST_F(EventlogSink, PutsUpWithBatchesInAnyOrder) {
  tell(1, 50, {Kind::kThreadRunning, {7}});
  tell(1, 60, {Kind::kThreadFinished, {7}});
  flush(1);
  tell(0, 10, {Kind::kThreadCreated, {7}});
  tell(0, 20, {Kind::kThreadRunning, {7}});
  tell(0, 30, {Kind::kThreadStopped, {7, event_word::kStopReason::kMigration, 0}});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(refused(), 0u);
  EXPECT_EQ(file.named("CREATE_THREAD").size(), 1u);
  EXPECT_EQ(file.named("STOP_THREAD").size(), 2u);
}

// Clocks of two threads differ by less than it takes to hand a thread over, or not quite.
TEST_F(EventlogSink, MendsWhatIsALittleTooEarly) {
  tell(1, 50, {Kind::kThreadRunning, {7}});  // before it was created, and before it stopped
  flush(1);
  tell(0, 51, {Kind::kThreadCreated, {7}});
  flush(0);
  tell(2, 60, {Kind::kThreadRunning, {8}});
  tell(2, 61, {Kind::kThreadStopped, {8, 1, 0}});
  tell(0, 58, {Kind::kThreadCreated, {8}});
  flush(0);
  tell(3, 70, {Kind::kThreadRunning, {8}});
  flush(3);
  tell(2, 71, {Kind::kThreadFinished, {7}});  // of another
  flush(2);
  const File file = end(100);
  EXPECT_EQ(file.named("CREATE_THREAD").at(0).when_ns, 49u);
  EXPECT_EQ(refused(), 1u);
}

TEST_F(EventlogSink, StopsAThreadBeforeItRunsElsewhere) {
  tell(0, 10, {Kind::kThreadCreated, {7}});
  tell(0, 20, {Kind::kThreadRunning, {7}});
  flush(0);
  tell(1, 50, {Kind::kThreadRunning, {7}});
  flush(1);
  tell(0, 52, {Kind::kThreadStopped, {7, event_word::kStopReason::kMigration, 0}});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(file.named("STOP_THREAD").at(0).when_ns, 49u);
}

TEST_F(EventlogSink, CreatesThreadsWhoseCreationNobodyTold) {
  tell(0, 20, {Kind::kThreadRunning, {7}});
  tell(0, 30, {Kind::kThreadFinished, {7}});
  flush(0);
  const File file = end(100);
  const auto created = file.named("CREATE_THREAD");
  ASSERT_EQ(created.size(), 1u);
  EXPECT_LT(created[0].when_ns, 20u);
  EXPECT_EQ(created[0].capability, 0u);
}

// Of a runtime that is told late that somebody listens. `validate threadpool` refuses logs for it.
TEST_F(EventlogSink, CreatesThreadsThatOnlyMigratedOrWoke) {
  tell(0, 20, {Kind::kThreadMigrated, {7, 0}});
  tell(0, 30, {Kind::kThreadWoken, {8, 0}});
  tell(0, 40, {Kind::kThreadRunnable, {9}});
  flush(0);
  const File file = end(100);
  std::vector<std::uint64_t> times;
  for (const Event& created : file.named("CREATE_THREAD")) times.push_back(created.when_ns);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{19, 29, 39}));
}

TEST_F(EventlogSink, EndsWhatStandsForAThreadWhenItsRuntimeTellsAfterAll) {
  call(0, 1, 2);
  tell(0, 3, {Kind::kThreadCreated, {1}});  // its number is the other's
  tell(0, 4, {Kind::kThreadRunning, {1}});
  flush(0);
  const File file = end(100);
  const auto runs = file.named("RUN_THREAD");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_NE(runs[0].numbers, runs[1].numbers);
  EXPECT_EQ(file.named("STOP_THREAD").size(), 2u);
}

// The fixture's reader has the rules of ghc-events.
TEST_F(EventlogSink, MakesAGoodLogOfWhateverARuntimeTells) {
  constexpr Kind kKinds[] = {Kind::kThreadCreated, Kind::kThreadRunnable, Kind::kThreadRunning,
                             Kind::kThreadRunning, Kind::kThreadStopped,  Kind::kThreadStopped,
                             Kind::kThreadStopped, Kind::kThreadFinished, Kind::kThreadMigrated,
                             Kind::kThreadWoken,   Kind::kThreadNamed,    Kind::kGcBegin,
                             Kind::kGcSynced,      Kind::kGcEnd};
  std::mt19937 generator(9);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(generator() % end); };
  std::uint64_t told = 0, left_out = 0;
  for (std::uint32_t round = 0; round < 300 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    begin({});
    const std::uint32_t workers = 1 + below(3);
    const std::uint32_t step_ns = round % 2 == 0 ? 1'000 : 10'000'000;  // within and beyond what is mended
    std::uint64_t now = 1;
    for (int i = 0; i < 60; ++i, ++told) {
      tests::Told one{kKinds[below(std::size(kKinds))], {}};
      // Each has its own threads, but for who creates them: that two contradict each other cannot be known
      // before the second is heard.
      const std::uint32_t worker = below(workers);
      const std::uint32_t thread =
          (one.kind == Kind::kThreadCreated ? below(workers) : worker) * 4 + below(4);
      const RuntimeEvent known({static_cast<std::uint32_t>(one.kind), {}});
      for (const EventField& field : known.row()->fields) {
        if (field.type != FieldType::kText) one.numbers.push_back(one.numbers.empty() ? thread + 1 : 1);
      }
      tell(worker, now += below(step_ns), one);
      if (below(8) == 0) flush(below(workers));
    }
    for (std::uint32_t i = 0; i < workers; ++i) flush(i);
    (void)end(now + 1);
    left_out += refused();
  }
  EXPECT_GT(told, left_out + told / 4);
}

TEST_F(EventlogSink, TakesCapabilitiesAsTheRuntimeTells) {
  tell(0, 1, {Kind::kCapabilityCreated, {0}});
  tell(0, 2, {Kind::kCapabilityCreated, {1}});
  tell(0, 3, {Kind::kCapabilityTaken, {1}});
  tell(0, 4, {Kind::kThreadCreated, {1}});
  tell(0, 5, {Kind::kThreadRunning, {1}});
  tell(0, 6, {Kind::kThreadStopped, {1, 1, 0}});
  tell(0, 7, {Kind::kCapabilityLeft, {1}});
  tell(0, 8, {Kind::kGcBegin, {0}});  // of none
  tell(0, 9, {Kind::kMarker, {}, "of none"});
  tell(0, 10, {Kind::kCapabilityTaken, {0}});
  flush(0);
  call(1, 11, 12);  // works for none
  flush(1);
  const File file = end(100);
  EXPECT_EQ(names(file, 1), (Names{"CREATE_THREAD", "RUN_THREAD", "STOP_THREAD"}));
  EXPECT_EQ(file.named("USER_MARKER")[0].capability, kNone);
  EXPECT_EQ(file.named("TASK_MIGRATE")[0].numbers, (std::vector<std::uint64_t>{1, 1, 0}));
  EXPECT_EQ(file.named("CAP_CREATE").size(), 2u);
  EXPECT_EQ(refused(), 1u);
}

TEST_F(EventlogSink, LeavesEventsOfOursOutWhereTheyAreNotWanted) {
  begin({.eventlog_own = false});
  EXPECT_EQ(sink->define({0, 1, 0, 0, "f", "f.x", 1}, out), Status::kOk);
  EXPECT_EQ(sink->code({CodeNews::Kind::kLoad, 1, kStart + 3, 0x1000, 16, "f", "f.x", 7}, out), Status::kOk);
  call(0, 1, 2);
  tell(0, 3, {Kind::kCounter, {1, 5}});
  tell(0, 4, {Kind::kMarker, {}, "m"});
  thread(0).post(kStart + 5, 1024, {});
  flush(0);
  const File file = end(100);
  for (const Event& event : file.events) EXPECT_LT(event.number, 300u);
  EXPECT_LT(file.types.rbegin()->first, 300u);
  EXPECT_EQ(file.named("RUN_THREAD").size(), 1u);
  const auto tables = file.named("IPE");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].numbers, std::vector<std::uint64_t>{0x1000});
  EXPECT_EQ(tables[0].texts, (Names{"f", "21", "", "f", "", "f.x:7"}));
  EXPECT_EQ(tables[0].when_ns, 3u);
}

TEST_F(EventlogSink, DeclaresWhatReadersOfItsLevelKnow) {
  const std::uint16_t kTicky = 210, kCensus = 207, kPruned = 208;
  const std::uint16_t sizes[] = {13, 13, 14};
  for (std::uint8_t level = 0; level < 3; ++level) {
    begin({.eventlog_level = level});
    tell(0, 1, {Kind::kHeapCensus, {64, 3, 2, 1}});
    tell(0, 2, {Kind::kSegmentsPruned, {3, 2}});
    flush(0);
    const File file = end(10);
    EXPECT_EQ(file.types.at(kTicky).size, 0xFFFF);
    EXPECT_EQ(file.types.at(kCensus).size, sizes[level]);
    EXPECT_EQ(file.types.contains(kPruned), level == 2);
    EXPECT_EQ(file.named("NONMOVING_HEAP_CENSUS").at(0).numbers[0], level == 2 ? 64u : 6u);
    EXPECT_EQ(file.named("NONMOVING_PRUNED_SEGMENTS").size(), level == 2 ? 1u : 0u);
  }
}

TEST_F(EventlogSink, DescribesTheFieldsOfItsOwn) {
  const File file = end(1);
  EXPECT_EQ(file.types.at(307).extra, std::string("\x4A\x51\0\x0Cu32 function\x4A\x51\0\6u8 how", 26));
  EXPECT_EQ(file.types.at(1).extra, "");
}

// A recovery goes on as the process would have.
TEST_F(EventlogSink, GoesOnFromWhatItRemembers) {
  begin({.eventlog_messages = true, .eventlog_ticky = true});
  EXPECT_EQ(sink->define({1, 1, 0, 0, "f", "", 0}, out), Status::kOk);
  std::unique_ptr<RunSink> copy(make_eventlog_sink());
  const auto hand_over = [&](bool whole) {
    Bytes state;
    whole ? sink->put_all(state) : sink->put_changes(state);
    EXPECT_TRUE(copy->apply(state.view()));
  };
  hand_over(true);
  for (std::uint32_t i = 0; i < 4; ++i) {
    call(i, 10 * i + 1, 10 * i + 5);
    tell(i, 10 * i + 6, {Kind::kThreadCreated, {i + 5}});
    tell(i, 10 * i + 7, {Kind::kThreadRunning, {i + 5}});
    if (i == 2) thread(i).other(RunEventKind::kThreadEnd, kStart + 29);
    if (i == 3) tell(i, 38, {Kind::kCapabilityTaken, {3}});
    flush(i);
    hand_over(i % 2 == 1);
    Bytes ours, theirs;
    std::unique_ptr<RunSink> ended(make_eventlog_sink());
    Bytes state;
    copy->put_all(state);
    ASSERT_TRUE(ended->apply(state.view()));
    EXPECT_EQ(ended->end(kStart + 50, theirs), Status::kOk);
    state.clear();
    sink->put_all(state);
    ended.reset(make_eventlog_sink());
    ASSERT_TRUE(ended->apply(state.view()));
    EXPECT_EQ(ended->end(kStart + 50, ours), Status::kOk);
    EXPECT_EQ(tests::text_of(ours), tests::text_of(theirs)) << i;
    for (std::size_t size = 0; size < state.size(); ++size) {
      std::unique_ptr<RunSink> cut(make_eventlog_sink());
      EXPECT_FALSE(cut->apply(state.view().first(size)));
    }
  }
  (void)end(60);
}

TEST_F(EventlogSink, SaysWhatIsLost) {
  thread(0).other(RunEventKind::kLost, kStart + 9, kStart + 5, 17);
  flush(0);
  const File file = end(10);
  EXPECT_EQ(file.named("LOG_MSG").at(0).texts, Names{"17 records of this thread are lost"});
  bool has_ours = false;
  for (const Event& event : file.events) has_ours |= event.number == number_of(eventlog::Event::kLost);
  EXPECT_TRUE(has_ours);
}

}  // namespace
}  // namespace jitquill
