// Two threads call hot_a, hot_b and cold; meanwhile the patterns are switched. Arguments: switches.
// Says how often each was called then. Behind that, alone: 17 calls of each while "cold" is on, 100 while
// nothing is.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/host/run/traced_code.hpp"

namespace {

enum : unsigned { kHotA, kHotB, kCold };

std::atomic<bool> is_done{false};
std::atomic<std::uint64_t> calls{0};

void call_until_done(const TracedCode& code) {
  for (; !is_done.load(std::memory_order_relaxed); calls.fetch_add(1, std::memory_order_relaxed))
    for (const unsigned each : {kHotA, kHotB, kCold}) code.call(each);
}

void wait_for_calls() {
  const std::uint64_t before = calls.load();
  while (calls.load() < before + 3) std::this_thread::yield();
}

void call_each(const TracedCode& code, int times) {
  for (int i = 0; i < times; ++i)
    for (const unsigned each : {kHotA, kHotB, kCold}) code.call(each);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const TracedCode code;
  code.load({"hot_a", "hot_b", "cold"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { call_until_done(code); });
  static const char* const kPatterns[] = {"hot_a", "hot_*,!hot_a", "", "hot_b,none"};
  bool are_right = true;
  const long switches = std::strtol(argv[1], nullptr, 10);
  for (long i = 0; i < switches; ++i) {
    if (i % 100 < 4) wait_for_calls();
    are_right = are_right && jitquill_set_hooks(kPatterns[i % 4]) == JITQUILL_OK;
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  are_right = are_right && jitquill_set_hooks("cold") == JITQUILL_OK;
  call_each(code, 17);
  are_right = are_right && jitquill_set_hooks(nullptr) == JITQUILL_OK;
  call_each(code, 100);
  std::printf("%lu\n", calls.load());
  return are_right ? 0 : 1;
}
