// Writes the eventlog of a runtime that there is not, which posts the cycles of the format's chapters in
// their order, on two threads of the system: fake_runtime FILE. By the sink, as the agent does.
//
//   a collection that moves, led by one thread and joined by another; one that moves nothing, with its
//   census; sparks; a profile of the heap by life; ticky counters
#include <cstdio>
#include <list>

#include "tests/golden/run_story.hpp"
#include "tests/unit/writer/told_event.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill {
RunSink* make_eventlog_sink() noexcept;
}

namespace {

using namespace jitquill;
using Kind = RuntimeEventKind;
namespace w = event_word;

constexpr std::uint64_t kStart = 1'000'000'000, kStep = 1'000;
constexpr FunctionNumber kFunction = 0;

class Runtime {
 public:
  explicit Runtime(RunSink& sink) : sink_(sink) {
    RunSettings settings;
    settings.eventlog_ticky = true;
    settings.eventlog_interval_ns = kStep;
    settings.eventlog_own = false;
    sink_.set(settings);
    Origin origin{4711, kStart};
    origin.unix_ns = 1'700'000'000'000'000'005;
    origin.arguments = {"fake\0", 5};
    note(sink_.begin(origin, out));
    note(sink_.define({kFunction, 1, 0x1000, 16, "compute", "fake.lang", 3}, out));
  }
  void tell(std::uint32_t worker, const tests::Told& told) {
    payloads_.push_back(tests::packed(told));
    stories_[worker].post(next(), static_cast<std::uint32_t>(told.kind), payloads_.back());
  }
  void call(std::uint32_t worker) { stories_[worker].enter(next(), kFunction).leave(next()); }
  void flush() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      note(sink_.batch(stories_[i].batch({i, 100 + i, "worker"}), out));
      stories_[i].turn_page();
    }
  }
  void end() { note(sink_.end(next(), out)); }

  Bytes out;
  bool failed = false;

 private:
  void note(Status status) { failed |= status != Status::kOk; }
  std::uint64_t next() { return now_ns_ += kStep; }

  RunSink& sink_;
  tests::RunStory stories_[2];
  std::list<std::vector<std::uint8_t>> payloads_;
  std::uint64_t now_ns_ = kStart;
};

void begin(Runtime& runtime) {
  runtime.tell(0, {Kind::kRuntimeNamed, {}, "fake 1.0"});
  runtime.tell(0, {Kind::kHeapInfo, {2, 0, 1 << 20, 1 << 20, 4096}});
  for (const std::uint32_t i : {0u, 1u}) {
    runtime.tell(i, {Kind::kCapabilityTaken, {i}});
    runtime.tell(i, {Kind::kThreadCreated, {i + 1}});
    runtime.tell(i, {Kind::kThreadNamed, {i + 1}, i == 0 ? "leader" : "other"});
    runtime.tell(i, {Kind::kThreadRunning, {i + 1}});
  }
}

void collect(Runtime& runtime) {
  runtime.tell(0, {Kind::kGcRequested, {w::kGcKind::kParallel}});
  runtime.tell(1, {Kind::kThreadStopped, {2, w::kStopReason::kHeapFull, 0}});
  runtime.tell(0, {Kind::kThreadStopped, {1, w::kStopReason::kHeapFull, 0}});
  for (const std::uint32_t i : {1u, 0u}) runtime.tell(i, {Kind::kGcBegin, {1}});
  runtime.tell(0, {Kind::kGcSynced, {}});
  for (const std::uint32_t i : {0u, 1u}) {
    runtime.tell(i, {Kind::kGcPhase, {w::kGcPhase::kWork}});
    runtime.tell(i, {Kind::kGcPhase, {w::kGcPhase::kIdle}});
    runtime.tell(i, {Kind::kGcPhase, {w::kGcPhase::kDone}});
    runtime.tell(i, {Kind::kHeapAllocated, {4096 * (i + 1)}});
  }
  runtime.tell(0, {Kind::kGcStatistics, {1, 2, 500, 20, 4096, 300, 500, 450}});
  runtime.tell(0, {Kind::kHeapSize, {2 << 20}});
  runtime.tell(0, {Kind::kHeapBlocks, {1 << 20}});
  runtime.tell(0, {Kind::kHeapLive, {500}});
  runtime.tell(0, {Kind::kHeapReturned, {2, 2, 0}});
  for (const std::uint32_t i : {1u, 0u}) runtime.tell(i, {Kind::kGcEnd, {}});
  for (const std::uint32_t i : {0u, 1u}) runtime.tell(i, {Kind::kThreadRunning, {i + 1}});
}

void collect_beside(Runtime& runtime) {
  runtime.tell(0, {Kind::kConcurrentBegin, {w::kConcurrentPhase::kMark}});
  runtime.tell(1, {Kind::kRememberedFlushed, {}});
  runtime.tell(0, {Kind::kConcurrentEnd, {w::kConcurrentPhase::kMark, 77}});
  runtime.tell(0, {Kind::kConcurrentBegin, {w::kConcurrentPhase::kSync}});
  runtime.tell(0, {Kind::kConcurrentEnd, {w::kConcurrentPhase::kSync, 0}});
  runtime.tell(0, {Kind::kConcurrentBegin, {w::kConcurrentPhase::kSweep}});
  for (const std::uint64_t size : {16u, 32u}) runtime.tell(0, {Kind::kHeapCensus, {size, 1, 2, 30}});
  runtime.tell(0, {Kind::kConcurrentEnd, {w::kConcurrentPhase::kSweep, 0}});
}

void spark(Runtime& runtime) {
  for (const std::uint64_t what :
       {w::kSpark::kCreated, w::kSpark::kCreated, w::kSpark::kDud, w::kSpark::kOverflowed})
    runtime.tell(0, {Kind::kSpark, {what}});
  runtime.tell(1, {Kind::kThreadStopped, {2, w::kStopReason::kYielded, 0}});
  runtime.tell(1, {Kind::kSparkThreadCreated, {3}});
  runtime.tell(1, {Kind::kThreadRunning, {3}});
  runtime.tell(1, {Kind::kSparkStolen, {0}});
  runtime.tell(1, {Kind::kThreadFinished, {3}});
  runtime.tell(1, {Kind::kThreadRunning, {2}});
  runtime.tell(0, {Kind::kSpark, {w::kSpark::kFizzled}});
  runtime.tell(0, {Kind::kSparkCounters, {2, 1, 1, 1, 0, 1, 0}});
}

void profile(Runtime& runtime) {
  runtime.tell(0, {Kind::kHeapProfileBegin, {w::kBandKind::kLife, 1'000'000}});
  for (const std::uint64_t sample : {0u, 1u}) {
    runtime.tell(0, {Kind::kHeapSampleBegin, {sample}});
    for (const char* const life : {"LAG", "USE", "DRAG", "VOID"})
      runtime.tell(0, {Kind::kHeapSampleBand, {64 * (sample + 1)}, life});
    runtime.tell(0, {Kind::kHeapSampleEnd, {sample}});
  }
  for (const std::uint32_t i : {0u, 1u}) runtime.call(i);
}

void end(Runtime& runtime) {
  for (const std::uint32_t i : {1u, 0u}) runtime.tell(i, {Kind::kThreadFinished, {i + 1}});
  runtime.flush();
  runtime.end();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  RunSink* const sink = make_eventlog_sink();
  Runtime runtime(*sink);
  for (const auto chapter : {begin, collect, collect_beside, spark, profile}) {
    chapter(runtime);
    runtime.flush();
  }
  end(runtime);
  const bool is_told = !runtime.failed && sink->losses().refused == 0;
  delete sink;
  std::FILE* const file = std::fopen(argv[1], "wb");
  if (file == nullptr || !is_told) return 1;
  const auto bytes = runtime.out.view();
  const bool is_put = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && is_put ? 0 : 1;
}
