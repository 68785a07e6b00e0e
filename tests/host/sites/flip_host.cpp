// Threads, argv[2] of them, run functions while their sites are switched on and off, argv[1] times. Says how
// many calls there were, and how many gave a wrong result.
//
// The functions are add and jump, and with `places` as argv[3] one at each place that there is in a line of
// the cache. Those that are not 8-aligned have to be refused: their sites stay off.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/sites/sled_code.hpp"

namespace {

struct Calls {
  std::uint64_t made = 0, wrong = 0;
};

constexpr std::uint32_t kJump = SledCode::kFunctionSize;
constexpr std::uint32_t kLine = 64;
// Odd, so that no two functions are at the same place of their lines.
constexpr std::uint32_t kPlaceStep = 33;

std::vector<std::uint32_t> places() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kLine; ++i) all.push_back(SledCode::kFreeFrom + i * kPlaceStep);
  return all;
}

bool announce(const SledCode& code, const char* name, std::uint32_t at, std::uint32_t size,
              jitquill_status expected) {
  jitquill_code news = code.news(name, at);
  news.size = size;
  return jitquill_code_loaded(&news, nullptr) == expected;
}

bool announce_all(const SledCode& code, const std::vector<std::uint32_t>& ats) {
  bool is_right = announce(code, "add", 0, SledCode::kFunctionSize, JITQUILL_OK) &&
                  announce(code, "jump", kJump, SledCode::kFunctionSize, JITQUILL_OK);
  for (const std::uint32_t at : ats) {
    code.put_add(at);
    is_right &= announce(code, ("place_" + std::to_string(at % kLine)).c_str(), at, kPlaceStep,
                         at % 8 == 0 ? JITQUILL_OK : JITQUILL_SITES_LEFT_OUT);
  }
  return is_right;
}

void call_until(const std::atomic<bool>& is_done, const SledCode& code, const std::vector<std::uint32_t>& ats,
                std::uint64_t first, Calls& calls) {
  const SledCode::Function jump = code.function(kJump);
  std::uint64_t i = first;
  do {
    for (const std::uint32_t at : ats) calls.wrong += code.function(at)(i, ~i) != ~std::uint64_t{0} ? 1 : 0;
    calls.wrong += jump(i, 2 * i) != 3 * i ? 1 : 0;
    calls.made += ats.size() + 1;
    ++i;
  } while (!is_done.load(std::memory_order_relaxed));
}

// Whether just those sites are on that can be.
bool are_switched(const SledCode& code, const std::vector<std::uint32_t>& ats, bool on) {
  return std::all_of(ats.begin(), ats.end(), [&](std::uint32_t at) {
    const bool is_on = on && at % 8 == 0;
    return code.is_on(at) == is_on && code.is_on(at + 16) == is_on;
  });
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long flips = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const unsigned long thread_count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2;
  const SledCode code;
  std::vector<std::uint32_t> ats = argc > 3 ? places() : std::vector<std::uint32_t>();
  if (!announce_all(code, ats)) return 2;
  ats.push_back(0);
  std::atomic<bool> is_done{false};
  std::atomic<unsigned long> started{0};
  std::vector<Calls> calls(thread_count);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < thread_count; ++i)
    threads.emplace_back([&, i] {
      ++started;
      call_until(is_done, code, ats, i << 32, calls[i]);
    });
  while (started.load() != thread_count) std::this_thread::yield();
  static const char* const kPatterns[] = {"*", "add,place_*", "jump", nullptr};
  unsigned long failed = 0;
  for (unsigned long i = 0; i < flips; ++i) {
    failed += jitquill_set_hooks(kPatterns[i % 4]) != JITQUILL_OK ? 1 : 0;
    failed += are_switched(code, ats, i % 4 < 2) ? 0 : 1;
  }
  is_done.store(true);
  for (std::thread& thread : threads) thread.join();
  Calls all;
  bool has_each_run = true;
  for (const Calls& each : calls) {
    all.made += each.made;
    all.wrong += each.wrong;
    has_each_run &= each.made != 0;
  }
  std::printf("%lu failed, %lu calls, %lu wrong\n", failed, all.made, all.wrong);
  return failed + all.wrong == 0 && has_each_run ? 0 : 1;
}
