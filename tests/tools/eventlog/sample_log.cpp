// Writes an eventlog with one record of each event that GHC's tools know, in an order that makes sense:
// sample_log FILE.
#include <cstdio>
#include <string_view>

#include "writer/eventlog/record.hpp"

namespace {

using namespace jitquill;
using namespace jitquill::eventlog;
using std::string_view;

constexpr std::uint32_t kProcess = 0, kClock = 1;

class Log {
 public:
  template <Event kEvent, class... Values>
  void put(const Values&... values) {
    failed |= eventlog::put<kEvent>(++when_ns, out, values...) != Status::kOk;
  }
  Bytes out;
  std::uint64_t when_ns = 0;
  bool failed = false;
};

void begin(Log& log) {
  Block block(0, kNoCapability, log.out);
  constexpr string_view kArgs[] = {"program", "-x"};
  log.put<Event::kCapsetCreate>(kProcess, std::uint16_t{2});
  log.put<Event::kCapsetCreate>(kClock, std::uint16_t{3});
  log.put<Event::kCapCreate>(std::uint16_t{0});
  log.put<Event::kCapsetAssignCap>(kProcess, std::uint16_t{0});
  log.put<Event::kWallClockTime>(kClock, std::uint64_t{1'700'000'000}, std::uint32_t{5});
  log.put<Event::kOsprocessPid>(kProcess, std::uint32_t{4711});
  log.put<Event::kOsprocessPpid>(kProcess, std::uint32_t{1});
  log.put<Event::kRtsIdentifier>(kProcess, string_view("model 1.0"));
  log.put<Event::kProgramArgs>(kProcess, std::span<const string_view>(kArgs));
  log.put<Event::kProgramEnv>(kProcess, std::span<const string_view>(kArgs).first(1));
  log.put<Event::kHeapInfoGhc>(kProcess, std::uint16_t{2}, std::uint64_t{0}, std::uint64_t{1024},
                               std::uint64_t{1'048'576}, std::uint64_t{4096});
  log.put<Event::kTaskCreate>(std::uint64_t{77}, std::uint16_t{0}, std::uint64_t{4711});
  block.close(log.when_ns);
}

void run_threads(Log& log) {
  log.put<Event::kCreateThread>(std::uint32_t{1});
  log.put<Event::kThreadLabel>(std::uint32_t{1}, string_view("m\xC3\xA4in"));
  log.put<Event::kRunThread>(std::uint32_t{1});
  log.put<Event::kCreateSparkThread>(std::uint32_t{2});
  log.put<Event::kStopThread>(std::uint32_t{1}, std::uint16_t{8}, std::uint32_t{2});
  log.put<Event::kThreadWakeup>(std::uint32_t{1}, std::uint16_t{0});
  log.put<Event::kThreadRunnable>(std::uint32_t{1});
  log.put<Event::kRunThread>(std::uint32_t{1});
  log.put<Event::kUserMarker>(string_view("half way"));
  log.put<Event::kUserMsg>(string_view("hello \xE2\x82\xAC"));
  log.put<Event::kLogMsg>(string_view("from the runtime"));
  constexpr std::uint8_t kRaw[] = {'r', 'a', 'w'};
  log.put<Event::kUserBinaryMsg>(std::span<const std::uint8_t>(kRaw));
  log.put<Event::kStopThread>(std::uint32_t{1}, std::uint16_t{1}, std::uint32_t{0});
}

void spark(Log& log) {
  log.put<Event::kSparkCreate>();
  log.put<Event::kSparkDud>();
  log.put<Event::kSparkOverflow>();
  log.put<Event::kSparkRun>();
  log.put<Event::kSparkSteal>(std::uint16_t{1});
  log.put<Event::kSparkFizzle>();
  log.put<Event::kSparkGc>();
  constexpr std::uint64_t k = 1;
  log.put<Event::kSparkCounters>(k, 2 * k, 3 * k, 4 * k, 5 * k, 6 * k, 7 * k);
}

void collect(Log& log) {
  log.put<Event::kRequestSeqGc>();
  log.put<Event::kRequestParGc>();
  log.put<Event::kGcStart>();
  log.put<Event::kGcGlobalSync>();
  log.put<Event::kGcWork>();
  log.put<Event::kGcIdle>();
  log.put<Event::kGcDone>();
  log.put<Event::kGcStatsGhc>(kProcess, std::uint16_t{1}, std::uint64_t{10}, std::uint64_t{20},
                              std::uint64_t{30}, std::uint32_t{2}, std::uint64_t{40}, std::uint64_t{50},
                              std::uint64_t{60});
  log.put<Event::kHeapAllocated>(kProcess, std::uint64_t{100});
  log.put<Event::kHeapSize>(kProcess, std::uint64_t{200});
  log.put<Event::kBlocksSize>(kProcess, std::uint64_t{150});
  log.put<Event::kHeapLive>(kProcess, std::uint64_t{120});
  log.put<Event::kMemReturn>(kProcess, std::uint32_t{3}, std::uint32_t{2}, std::uint32_t{1});
  log.put<Event::kGcEnd>();
  log.put<Event::kConcMarkBegin>();
  log.put<Event::kConcUpdRemSetFlush>(std::uint16_t{0});
  log.put<Event::kConcMarkEnd>(std::uint32_t{9});
  log.put<Event::kConcSyncBegin>();
  log.put<Event::kConcSyncEnd>();
  log.put<Event::kConcSweepBegin>();
  log.put<Event::kConcSweepEnd>();
}

void profile(Log& log) {
  Block block(log.when_ns, kNoCapability, log.out);
  constexpr string_view kNone;
  constexpr std::uint32_t kStack[] = {2, 1};
  log.put<Event::kHeapProfBegin>(std::uint8_t{0}, std::uint64_t{1000}, std::uint32_t{4}, kNone, kNone, kNone,
                                 kNone, kNone, kNone, kNone);
  log.put<Event::kHeapProfCostCentre>(std::uint32_t{1}, string_view("f"), string_view("M"),
                                      string_view("m.x:1"), std::uint8_t{0});
  log.put<Event::kHeapProfSampleBegin>(std::uint64_t{1});
  log.put<Event::kHeapProfSampleString>(std::uint8_t{0}, std::uint64_t{64}, string_view("List"));
  log.put<Event::kHeapProfSampleCostCentre>(std::uint8_t{0}, std::uint64_t{32},
                                            std::span<const std::uint32_t>(kStack));
  log.put<Event::kHeapProfSampleEnd>(std::uint64_t{1});
  log.put<Event::kProfBegin>(std::uint64_t{1'000'000});
  log.put<Event::kProfSampleCostCentre>(std::uint32_t{0}, std::uint64_t{3},
                                        std::span<const std::uint32_t>(kStack));
  log.put<Event::kIpe>(std::uint64_t{4096}, string_view("t"), string_view("21"), string_view("Ty"),
                       string_view("l"), string_view("M"), string_view("m.x:2"));
  log.put<Event::kPerfName>(std::uint32_t{1}, string_view("cycles"));
  log.put<Event::kPerfCounter>(std::uint32_t{1}, std::uint64_t{4711}, std::uint64_t{99});
  block.close(log.when_ns);
}

void end(Log& log) {
  Block block(log.when_ns, kNoCapability, log.out);
  log.put<Event::kTaskDelete>(std::uint64_t{77});
  log.put<Event::kCapDisable>(std::uint16_t{0});
  log.put<Event::kCapEnable>(std::uint16_t{0});
  log.put<Event::kCapsetRemoveCap>(kProcess, std::uint16_t{0});
  log.put<Event::kCapDelete>(std::uint16_t{0});
  log.put<Event::kCapsetDelete>(kProcess);
  log.put<Event::kCapsetDelete>(kClock);
  block.close(log.when_ns);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Log log;
  constexpr Owner kOwners[] = {Owner::kGhc, Owner::kPerfTools};
  put_header(kOwners, log.out);
  begin(log);
  Block block(log.when_ns, 0, log.out);
  run_threads(log);
  spark(log);
  collect(log);
  log.put<Event::kRunThread>(std::uint32_t{1});
  log.put<Event::kStopThread>(std::uint32_t{1}, std::uint16_t{5}, std::uint32_t{0});
  block.close(log.when_ns);
  profile(log);
  end(log);
  put_end(log.out);
  std::FILE* const file = std::fopen(argv[1], "wb");
  if (file == nullptr || log.failed || log.out.failed()) return 1;
  const bool is_put = std::fwrite(log.out.view().data(), 1, log.out.size(), file) == log.out.size();
  return std::fclose(file) == 0 && is_put ? 0 : 1;
}
