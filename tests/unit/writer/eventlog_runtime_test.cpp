// What GHC's tools are told of each event of a runtime.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/readers/eventlog/reader.hpp"
#include "tests/unit/writer/told_event.hpp"
#include "writer/eventlog/record.hpp"
#include "writer/eventlog/runtime_record.hpp"

namespace jitquill::eventlog {
namespace {

using Kind = RuntimeEventKind;
using tests::packed;
using tests::Told;
using Numbers = std::vector<std::uint64_t>;
using Texts = std::vector<std::string>;

class Log {
 public:
  Log() {
    constexpr Owner kOwners[] = {Owner::kGhc, Owner::kJitquill};
    put_header(kOwners, out_);
  }
  // Each in a block of its own.
  Status put(const Told& told, std::uint16_t capability = 3) {
    const auto payload = packed(told);
    const RuntimeEvent event({static_cast<std::uint32_t>(told.kind), payload});
    ++when_ns_;
    Block block(when_ns_, where(told.kind) == Where::kOutside ? kNoCapability : capability, out_);
    const Status status = put_runtime_event(event, place_of(event, when_ns_, capability), out_);
    block.close(when_ns_);
    return status;
  }
  // Without the markers of blocks.
  std::vector<eventlog_reader::Event> events() {
    put_end(out_);
    const auto file = eventlog_reader::read({reinterpret_cast<const char*>(out_.view().data()), out_.size()});
    violations = describe(file.violations);
    std::vector<eventlog_reader::Event> events;
    for (const auto& event : file.events) {
      if (event.number != static_cast<std::uint16_t>(Event::kBlockMarker)) events.push_back(event);
    }
    return events;
  }

  std::string violations;

 private:
  Bytes out_;
  std::uint64_t when_ns_ = 0;
};

struct Expected {
  Told told;
  const char* name;
  Numbers numbers = {};
  Texts texts = {};
};

const Expected kExpected[] = {
    {{Kind::kThreadCreated, {7}}, "CREATE_THREAD", {7}},
    {{Kind::kThreadRunnable, {7}}, "THREAD_RUNNABLE", {7}},
    {{Kind::kThreadRunning, {7}}, "RUN_THREAD", {7}},
    {{Kind::kThreadStopped, {7, event_word::kStopReason::kLazyValue, 9}}, "STOP_THREAD", {7, 8, 9}},
    {{Kind::kThreadFinished, {7}}, "STOP_THREAD", {7, 5, 0}},
    {{Kind::kThreadMigrated, {7, 2}}, "MIGRATE_THREAD", {7, 2}},
    {{Kind::kThreadWoken, {7, 2}}, "THREAD_WAKEUP", {7, 2}},
    {{Kind::kThreadNamed, {7}, "main"}, "THREAD_LABEL", {7}, {"main"}},
    {{Kind::kCapabilityCreated, {2}}, "CAP_CREATE", {2}},
    {{Kind::kCapabilityDeleted, {2}}, "CAP_DELETE", {2}},
    {{Kind::kCapabilityDisabled, {2}}, "CAP_DISABLE", {2}},
    {{Kind::kCapabilityEnabled, {2}}, "CAP_ENABLE", {2}},
    {{Kind::kGcRequested, {event_word::kGcKind::kSequential}}, "REQUEST_SEQ_GC"},
    {{Kind::kGcRequested, {event_word::kGcKind::kParallel}}, "REQUEST_PAR_GC"},
    {{Kind::kGcBegin, {1}}, "GC_START"},
    {{Kind::kGcSynced, {}}, "GC_GLOBAL_SYNC"},
    {{Kind::kGcPhase, {event_word::kGcPhase::kSweep}}, "GC_WORK"},
    {{Kind::kGcPhase, {event_word::kGcPhase::kIdle}}, "GC_IDLE"},
    {{Kind::kGcPhase, {event_word::kGcPhase::kDone}}, "GC_DONE"},
    {{Kind::kGcPhase, {200}}, "GC_WORK"},
    {{Kind::kGcStatistics, {1, 2, 10, 20, 30, 40, 50, 60}},
     "GC_STATS_GHC",
     {0, 1, 10, 20, 30, 2, 40, 50, 60}},
    {{Kind::kGcEnd, {}}, "GC_END"},
    {{Kind::kConcurrentBegin, {event_word::kConcurrentPhase::kMark}}, "CONC_MARK_BEGIN"},
    {{Kind::kConcurrentBegin, {event_word::kConcurrentPhase::kSync}}, "CONC_SYNC_BEGIN"},
    {{Kind::kConcurrentBegin, {event_word::kConcurrentPhase::kSweep}}, "CONC_SWEEP_BEGIN"},
    {{Kind::kConcurrentEnd, {event_word::kConcurrentPhase::kMark, 5}}, "CONC_MARK_END", {5}},
    {{Kind::kConcurrentEnd, {event_word::kConcurrentPhase::kMark, 1ull << 40}},
     "CONC_MARK_END",
     {0xFFFFFFFF}},
    {{Kind::kConcurrentEnd, {event_word::kConcurrentPhase::kSync, 0}}, "CONC_SYNC_END"},
    {{Kind::kConcurrentEnd, {event_word::kConcurrentPhase::kSweep, 0}}, "CONC_SWEEP_END"},
    {{Kind::kRememberedFlushed, {}}, "CONC_UPD_REM_SET_FLUSH", {3}},
    {{Kind::kHeapCensus, {64, 3, 2, 700}}, "NONMOVING_HEAP_CENSUS", {64, 3, 2, 700}},
    {{Kind::kSegmentsPruned, {4, 1}}, "NONMOVING_PRUNED_SEGMENTS", {4, 1}},
    {{Kind::kHeapInfo, {2, 0, 10, 20, 30}}, "HEAP_INFO_GHC", {0, 2, 0, 10, 20, 30}},
    {{Kind::kHeapAllocated, {1ull << 40}}, "HEAP_ALLOCATED", {0, 1ull << 40}},
    {{Kind::kHeapSize, {5}}, "HEAP_SIZE", {0, 5}},
    {{Kind::kHeapBlocks, {5}}, "BLOCKS_SIZE", {0, 5}},
    {{Kind::kHeapLive, {5}}, "HEAP_LIVE", {0, 5}},
    {{Kind::kHeapReturned, {3, 2, 1}}, "MEM_RETURN", {0, 3, 2, 1}},
    {{Kind::kSpark, {event_word::kSpark::kCreated}}, "SPARK_CREATE"},
    {{Kind::kSpark, {event_word::kSpark::kDud}}, "SPARK_DUD"},
    {{Kind::kSpark, {event_word::kSpark::kOverflowed}}, "SPARK_OVERFLOW"},
    {{Kind::kSpark, {event_word::kSpark::kRun}}, "SPARK_RUN"},
    {{Kind::kSpark, {event_word::kSpark::kFizzled}}, "SPARK_FIZZLE"},
    {{Kind::kSpark, {event_word::kSpark::kCollected}}, "SPARK_GC"},
    {{Kind::kSparkStolen, {1}}, "SPARK_STEAL", {1}},
    {{Kind::kSparkCounters, {1, 2, 3, 4, 5, 6, 7}}, "SPARK_COUNTERS", {1, 2, 3, 4, 5, 6, 7}},
    {{Kind::kRuntimeNamed, {}, "nib 1"}, "RTS_IDENTIFIER", {0}, {"nib 1"}},
    {{Kind::kMarker, {}, "m"}, "USER_MARKER", {}, {"m"}},
    {{Kind::kMessage, {}, "a\xFF"}, "USER_MSG", {}, {"a?"}},
    {{Kind::kRuntimeMessage, {}, "r"}, "LOG_MSG", {}, {"r"}},
    {{Kind::kBinaryMessage, {}, "a\xFF"}, "USER_BINARY_MSG", {}, {"a\xFF"}},
    {{Kind::kCounterNamed, {1}, "c"}, "", {}, {std::string("\0\0\0\1c", 5)}},
    {{Kind::kCounter, {1, ~0ull}}, "", {}, {std::string("\0\0\0\1", 4) + std::string(8, '\xFF')}},
    {{Kind::kAllocationSite, {1}, "f (a:1)"}, "HEAP_PROF_COST_CENTRE", {1, 0}, {"f (a:1)", "", ""}},
    {{Kind::kAllocated, {1, 2, 3}}, "", {}, {std::string("\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3", 20)}},
    {{Kind::kHeapProfileBegin, {event_word::kBandKind::kSite, 9}}, "HEAP_PROF_BEGIN", {0, 9, 1}, Texts(7)},
    {{Kind::kHeapProfileBegin, {event_word::kBandKind::kEra, 9}}, "HEAP_PROF_BEGIN", {0, 9, 9}, Texts(7)},
    {{Kind::kHeapSampleBegin, {4}}, "HEAP_PROF_SAMPLE_BEGIN", {4}},
    {{Kind::kHeapSampleBand, {64}, "s"}, "HEAP_PROF_SAMPLE_STRING", {0, 64}, {"s"}},
    {{Kind::kHeapSampleSite, {1, 64}}, "HEAP_PROF_SAMPLE_COST_CENTRE", {0, 64, 1, 1}},
    {{Kind::kHeapSampleEnd, {4}}, "HEAP_PROF_SAMPLE_END", {4}},
};

TEST(EventlogRuntime, TellsEachEventAsGhcWould) {
  Log log;
  for (const Expected& expected : kExpected) EXPECT_EQ(log.put(expected.told), Status::kOk) << expected.name;
  const auto events = log.events();
  ASSERT_EQ(events.size(), std::size(kExpected));
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Expected& expected = kExpected[i];
    EXPECT_EQ(events[i].name, expected.name);
    EXPECT_EQ(events[i].numbers, expected.numbers) << expected.name << " " << i;
    EXPECT_EQ(events[i].texts, expected.texts) << expected.name << " " << i;
    EXPECT_EQ(events[i].capability, where(expected.told.kind) == Where::kOutside ? kNoCapability : 3);
  }
}

// And none is missing above but those of the sink, and the one of two records.
TEST(EventlogRuntime, HasARowForEachEvent) {
  std::map<Kind, unsigned> seen;
  for (const Expected& expected : kExpected) ++seen[expected.told.kind];
  for (const RuntimeEventRow& row : runtime_event_rows()) {
    const bool is_apart = where(row.kind) == Where::kOfSink || row.kind == Kind::kSparkThreadCreated;
    EXPECT_EQ(seen.contains(row.kind), !is_apart) << row.name;
  }
  Log log;
  EXPECT_EQ(log.put({Kind::kCapabilityTaken, {1}}), Status::kOk);
  EXPECT_TRUE(log.events().empty());
}

// Only numbers at which no reader aborts.
TEST(EventlogRuntime, StopsForReasonsThatReadersKnow) {
  Log log;
  (void)log.put({Kind::kThreadCreated, {1}});
  for (std::uint64_t reason = 0; reason < 20; ++reason) {
    (void)log.put({Kind::kThreadRunning, {1}});
    (void)log.put({Kind::kThreadStopped, {1, reason, 0}});
  }
  EXPECT_EQ(log.events().size(), 41u);
  EXPECT_EQ(log.violations, "");
}

TEST(EventlogRuntime, OfAModelRunIsValid) {
  Log log;
  const Told run[] = {
      {Kind::kRuntimeNamed, {}, "nib"},
      {Kind::kCapabilityCreated, {3}},
      {Kind::kThreadCreated, {1}},
      {Kind::kThreadNamed, {1}, "main"},
      {Kind::kSparkThreadCreated, {2}},
      {Kind::kThreadRunning, {1}},
      {Kind::kThreadStopped, {1, event_word::kStopReason::kHeapFull, 0}},
      {Kind::kGcBegin, {0}},
      {Kind::kGcSynced, {}},
      {Kind::kGcPhase, {event_word::kGcPhase::kMark}},
      {Kind::kGcStatistics, {0, 1, 0, 0, 0, 0, 0, 0}},
      {Kind::kGcEnd, {}},
      {Kind::kThreadRunning, {2}},
      {Kind::kThreadFinished, {2}},
      {Kind::kThreadRunning, {1}},
      {Kind::kThreadFinished, {1}},
      {Kind::kCapabilityDeleted, {3}},
  };
  for (const Told& told : run) EXPECT_EQ(log.put(told), Status::kOk);
  EXPECT_EQ(log.events().size(), std::size(run) + 1);
  EXPECT_EQ(log.violations, "");
}

}  // namespace
}  // namespace jitquill::eventlog
