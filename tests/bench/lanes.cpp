// What a traced call costs: the hooks of both its sites, called from sleds, against the least that it could,
// two reads of the counter and two 16-byte stores in a loop.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/lanes/pool_view.hpp"
#include "tests/bench/paired.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/traced_code.hpp"

namespace {

using namespace jitquill::lanes;
using jitquill::bench::Ratio;

constexpr int kRuns = 301;
constexpr std::size_t kPairs = 8000;  // a run; 256 KB of records, as one chunk
constexpr double kOnTarget = 1.05;
constexpr double kOffTarget_ns = 0.5;

struct Stores {
  std::array<std::uint64_t, 2 * (2 * kPairs)> words{};
};

[[gnu::noinline]] void floor_of(Stores& stores) {
  std::uint64_t* at = stores.words.data();
  for (std::size_t i = 0; i < kPairs; ++i, at += 4) {
    at[1] = i;
    asm volatile("" : : : "memory");
    at[0] = jitquill::cpu::ticks();
    at[3] = i;
    asm volatile("" : : : "memory");
    at[2] = jitquill::cpu::ticks();
  }
}

[[gnu::noinline]] void call_often(const std::uint8_t* function, std::size_t times) {
  const auto call = reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(function));
  for (std::size_t i = 0; i < times; ++i) call();
}

// Gives back what the calling thread has filled.
void give_back_full(std::uint32_t tid) {
  const auto view = PoolView::over(Pool::memory());
  std::vector<std::uint64_t> full;
  view->for_each_chunk([&](const PoolView::Chunk& chunk) {
    if (chunk.header->state.load() != ChunkState::kUsed) return;
    const Lane& lane = view->lane(chunk.header->lane);
    if (lane.tid == tid && chunk.header->number < lane.chunk_number.load()) full.push_back(chunk.offset);
  });
  for (const std::uint64_t offset : full) Pool::give_back(offset);
}

struct Samples {
  std::vector<double> ours_s, floor_s;
};

Samples measure(const std::uint8_t* leaf) {
  const auto tid = static_cast<std::uint32_t>(gettid());
  static thread_local Stores stores;
  Samples samples;
  call_often(leaf, kPairs);  // its first, small chunks
  for (int run = 0; run < kRuns; ++run) {
    const auto ours = [&] {
      give_back_full(tid);
      samples.ours_s.push_back(jitquill::bench::seconds_of([&] { call_often(leaf, kPairs); }));
    };
    const auto floor = [&] {
      samples.floor_s.push_back(jitquill::bench::seconds_of([&] { floor_of(stores); }));
    };
    run % 2 == 0 ? ours() : floor();
    run % 2 == 0 ? floor() : ours();
  }
  return samples;
}

void print(const char* what, const Samples& samples) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples.ours_s.size(); ++i)
    ratios.push_back(samples.ours_s[i] / samples.floor_s[i]);
  const double ours_s = jitquill::bench::median_of(samples.ours_s);
  const double floor_s = jitquill::bench::median_of(samples.floor_s);
  jitquill::bench::print(
      what, Ratio{jitquill::bench::median_of(ratios), jitquill::bench::upper_95_of(ratios), ours_s, floor_s},
      kOnTarget);
  std::printf("%-60s %.2f ns a pair, floor %.2f ns\n", "", ours_s / kPairs * 1e9, floor_s / kPairs * 1e9);
}

void off(lanes_test::TracedCode& code) {
  constexpr std::size_t kCalls = 1'000'000;
  const std::uint8_t* const with_sites = code.leaf(1, false);
  const std::uint8_t* const bare = code.here();
  code.ret();
  const auto cost = jitquill::bench::paired_difference(
      101, [&] { call_often(with_sites, kCalls); }, [&] { call_often(bare, kCalls); });
  std::printf("%-60s %.2f ns a call (95%% bound %.2f, target %.2f)\n", "lanes: sites off, against none",
              cost.median_s / kCalls * 1e9, cost.upper_95_s / kCalls * 1e9, kOffTarget_ns);
}

}  // namespace

int main() {
  const lanes_test::LaneRun run({.memory_bytes = std::uint64_t{16} << 20});
  if (run.started() != 0) {
    std::printf("lanes: no pool: error %d\n", -run.started());
    return 1;
  }
  Pool::keep_spare();
  lanes_test::TracedCode code;
  const std::uint8_t* const leaf = code.leaf(1);
  print("lanes: sites on / floor", measure(leaf));
  std::array<Samples, 2> of;
  std::thread other([&] { of[1] = measure(leaf); });
  of[0] = measure(leaf);
  other.join();
  print("lanes: sites on / floor, first of two threads", of[0]);
  print("lanes: sites on / floor, second of two threads", of[1]);
  off(code);
  std::printf("lanes: lost %llu records\n", static_cast<unsigned long long>(Pool::lost_without_lane()));
  return 0;
}
