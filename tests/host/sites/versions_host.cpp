// Threads, argv[2] of them, make functions, argv[1] in all, one behind another: number i is announced, called
// 1 + i % 7 times and unloaded, and each thread has but a few places for all of its own.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/sites/sled_code.hpp"

namespace {

constexpr std::uint32_t kPlaces = 3, kStep = 40;  // overlapping: a function has 64 bytes

bool live_through(const SledCode& code, unsigned number) {
  const std::uint32_t at = SledCode::kFreeFrom + number / 2 % kPlaces * kStep;
  code.put_add(at);
  const jitquill_code news = code.news(("version_" + std::to_string(number)).c_str(), at);
  if (jitquill_code_loaded(&news, nullptr) != JITQUILL_OK || !code.is_on(at)) return false;
  for (unsigned i = 0; i <= number % 7; ++i)
    if (code.function(at)(number, i) != number + i) return false;
  return jitquill_code_unloaded(code.bytes(at)) == JITQUILL_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100;
  const unsigned thread_count = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::vector<SledCode> codes(thread_count);
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      for (unsigned number = t; number < count; number += thread_count)
        if (!live_through(codes[t], number)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%u wrong\n", wrong.load());
  return wrong.load() == 0 ? 0 : 1;
}
