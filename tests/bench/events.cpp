// What telling an event costs (events.h): instructions as valgrind's callgrind counts them, where there is no
// agent, where no output shows events, and where one does (with policy=flight, so that nobody drains
// meanwhile); and then the time. Bytes are those in the lane.
#include <jitquill/events.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>

#include "tests/bench/paired.hpp"
#include "tests/support/child.hpp"

namespace {

constexpr std::uint64_t kEvents = 20'000;  // a run; fits into memory=
constexpr int kRuns = 51;

struct Kind {
  const char* name;
  std::size_t bytes;
  void (*tell)(std::uint64_t);
};

const Kind kKinds[] = {
    {"nothing", 0, [](std::uint64_t) {}},
    {"gc_end", 16, [](std::uint64_t) { (void)jitquill_gc_end(); }},
    {"thread_running", 32, [](std::uint64_t i) { (void)jitquill_thread_running(i); }},
    {"counter", 32, [](std::uint64_t i) { (void)jitquill_counter(1, static_cast<std::int64_t>(i)); }},
    {"thread_stopped", 48, [](std::uint64_t i) { (void)jitquill_thread_stopped(i, JITQUILL_STOP_LOCK, 0); }},
    {"marker, 6 bytes", 32, [](std::uint64_t) { (void)jitquill_marker("loaded"); }},
    {"message, 16 bytes", 48, [](std::uint64_t) { (void)jitquill_message("sixteen bytes   "); }},
    {"gc_statistics", 96, [](std::uint64_t i) { (void)jitquill_gc_statistics(1, 2, i, i, i, i, i, i); }},
};

struct Setting {
  const char* name;
  const char* agent;
  const char* options;
};

const Setting kSettings[] = {
    {"no agent", "", ""},
    {"an agent, nothing shows events", JITQUILL_AGENT, "formats=jitdump"},
    {"eventlog shows them", JITQUILL_AGENT, "formats=eventlog policy=flight memory=64M"},
};

// What a message of 16 bytes takes of CPU by GHC 9.0 on such machines (20 million of them, to /dev/null).
constexpr double kGhcNs = 28;
constexpr double kTarget = 0.8;

[[gnu::noinline]] void tell(const Kind& kind, std::uint64_t events) {
  for (std::uint64_t i = 0; i < events; ++i) kind.tell(i);
}

double median_ns(const Kind& kind) {
  std::vector<double> seconds;
  for (int run = 0; run < kRuns; ++run)
    seconds.push_back(jitquill::bench::seconds_of([&] { tell(kind, kEvents / kRuns); }));
  return jitquill::bench::median_of(seconds) / (kEvents / kRuns) * 1e9;
}

test_support::Command itself(const Setting& setting, const test_support::TempFolder& folder,
                             std::vector<std::string> words) {
  return {.words = std::move(words),
          .environment = {{"LD_PRELOAD", setting.agent},
                          {"JITQUILL_OPTIONS", std::string(setting.options) + " dir=" + folder.file("out")}},
          .folder = folder.path()};
}

// Of tell() and what it calls.
double instructions_each(const std::string& program, const Setting& setting, std::size_t kind) {
  const test_support::TempFolder folder;
  const auto ended = test_support::run(
      itself(setting, folder,
             {"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*::tell(*",
              program, std::to_string(kind), std::to_string(kEvents)}));
  const std::size_t at = ended.err.rfind("Collected : ");
  if (!ended.succeeded() || at == ended.err.npos) return -1;
  return std::strtod(ended.err.c_str() + at + std::strlen("Collected : "), nullptr) / kEvents;
}

int child(std::size_t kind, std::uint64_t events) {
  (void)jitquill_gc_end();  // looks the agent up, and opens its outputs
  events != 0 ? tell(kKinds[kind], events) : (void)std::printf("%.2f\n", median_ns(kKinds[kind]));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return child(std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10));
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const bool has_valgrind = test_support::run({{"valgrind", "--version"}, {}, {}}).succeeded();
  if (!has_valgrind) std::printf("events: no valgrind, instructions are not counted\n");
  for (const Setting& setting : kSettings) {
    const double loop = has_valgrind ? instructions_each(program, setting, 0) : 0;
    for (std::size_t kind = 1; kind < std::size(kKinds); ++kind) {
      const test_support::TempFolder folder;
      const auto timed = test_support::run(itself(setting, folder, {program, std::to_string(kind), "0"}));
      const double count = has_valgrind ? instructions_each(program, setting, kind) - loop : 0;
      std::printf("events: %-32s %-17s %3zu bytes  %6.1f instructions  %6.2f ns\n", setting.name,
                  kKinds[kind].name, kKinds[kind].bytes, count, std::strtod(timed.out.c_str(), nullptr));
      if (&setting == std::end(kSettings) - 1 && std::strncmp(kKinds[kind].name, "message", 7) == 0)
        std::printf("events: a message of 16 bytes takes %.2f of GHC's %.0f ns (target %.1f)\n",
                    std::strtod(timed.out.c_str(), nullptr) / kGhcNs, kGhcNs, kTarget);
    }
  }
  return 0;
}
