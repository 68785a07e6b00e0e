// How many events a second one core drains to `counts`, or the format that is named, pairing and naming
// included: a pool full of records as threads leave them, against a bare copy of the same records.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/drain/drain.hpp"
#include "tests/bench/paired.hpp"
#include "tests/support/lane_pool.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

using namespace jitquill;

constexpr std::size_t kPoolSize = std::size_t{160} << 20;
constexpr std::uint64_t kEvents = 8'000'000;
constexpr std::uint64_t kFunctions = 200;
constexpr double kTarget = 40e6;  // events a second
constexpr double kOpenj9Target = 30e6;
constexpr int kRuns = 9;

class BenchFolder final : public Folder {
 public:
  explicit BenchFolder(std::string path) : path_(std::move(path)) {}
  int create(const char* name) noexcept override {
    return ::open((path_ + "/" + name).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  void remove(const char*) noexcept override {}

 private:
  std::string path_;
};

// Of this thread: the machine may have other work.
template <class Work>
double cpu_seconds_of(Work work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double start = now();
  work();
  return now() - start;
}

// Nothing is given back: the next run drains the same records.
class BenchSource final : public drain::LaneSource {
 public:
  explicit BenchSource(std::span<std::uint8_t> memory) : memory_(memory) {}
  std::span<std::uint8_t> memory() noexcept override { return memory_; }
  void give_back(std::uint64_t) noexcept override {}
  void quarantine(std::uint64_t) noexcept override {}
  bool is_thread_gone(std::uint32_t) noexcept override { return false; }
  void free_row(std::uint32_t) noexcept override {}

 private:
  std::span<std::uint8_t> memory_;
};

// Calls of a program with about eight frames open, as fib has.
void fill(test_support::LanePool& pool, std::uint32_t row) {
  std::vector<std::uint64_t> slots{0x7ffd'0000'0000};
  std::uint64_t dice = 1;
  for (std::uint64_t i = 1; i <= kEvents; ++i) {
    dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
    const bool calls = slots.size() < 3 || (slots.size() < 15 && (dice >> 33) % 2 == 0);
    if (calls) {
      slots.push_back(slots.back() - 64);
      pool.put(row, lanes::RecordKind::kEnter, 1 + (dice >> 40) % kFunctions, slots.back(), 40 * i);
    } else {
      pool.put(row, lanes::RecordKind::kLeave, 0, slots.back(), 40 * i);
      slots.pop_back();
    }
  }
}

std::span<std::uint8_t> mapped() {
  void* const memory =
      mmap(nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return {static_cast<std::uint8_t*>(memory), kPoolSize};
}

// A drain passes over what is there when it opens: the records come then.
double drained(std::span<std::uint8_t> memory, const test_support::TempFolder& folder, const char* format) {
  std::memset(memory.data(), 0, memory.size());
  test_support::LanePool pool(memory);
  pool.set_stacks(0x7ffd'0000'0000 - 0x800000, 0x7ffd'0000'1000);
  BenchSource source(memory);
  BenchFolder output(folder.path());
  const int handle = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  drain::DrainSettings settings;
  settings.lanes = &source;
  settings.output = &output;
  settings.lane_folder = handle;
  settings.code_lane = ::open(folder.file("code").c_str(), O_RDONLY | O_CLOEXEC);
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == format) settings.outputs.formats = 1u << i;
  }
  const auto all = std::make_unique<drain::Drain>();
  if (all->open(settings, {1, 1}) != Status::kOk) std::abort();
  fill(pool, pool.begin_thread(1));
  std::uint64_t records = 0;
  const double seconds = cpu_seconds_of([&] {
    for (drain::Pass pass{.has_more = true}; pass.has_more; records += pass.records)
      pass = all->pass({40 * kEvents, 40 * kEvents});
  });
  if (records != kEvents) std::abort();
  close(handle);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const format = argc > 1 ? argv[1] : "counts";
  const std::span<std::uint8_t> memory = mapped();
  const test_support::TempFolder folder;
  BenchFolder code_folder(folder.path());
  lanes::CodeLane code;
  if (code.begin({}, code_folder) != Status::kOk) return 1;
  for (std::uint64_t id = 1; id <= kFunctions; ++id)
    (void)code.function(id, "function_" + std::to_string(id), "f.nib", 1);

  std::vector<double> ours, copies;
  std::vector<std::uint8_t> copy(kEvents * sizeof(lanes::Record));
  for (int i = 0; i < kRuns; ++i) {
    ours.push_back(drained(memory, folder, format));
    copies.push_back(
        cpu_seconds_of([&] { std::memcpy(copy.data(), memory.data() + lanes::kChunksAt, copy.size()); }));
  }
  const double rate = kEvents / bench::median_of(ours);
  const double target = std::string_view(format) == "openj9" ? kOpenj9Target : kTarget;
  std::printf(
      "%s: %.1f million events a second (target %.0f), %.1f ns each; a bare copy of the records %.1f ns\n",
      format, rate / 1e6, target / 1e6, 1e9 / rate, 1e9 * bench::median_of(copies) / kEvents);
  return 0;
}
