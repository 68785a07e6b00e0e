// Threads run functions while their sites are switched on and off, argv[1] times. Says how many calls there
// were, and how many gave a wrong result.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/host/sites/sled_code.hpp"

namespace {

struct Calls {
  std::uint64_t made = 0, wrong = 0;
};

void call_until(const std::atomic<bool>& is_done, const SledCode& code, std::uint64_t first, Calls& calls) {
  const SledCode::Function add = code.function(0), jump = code.function(SledCode::kFunctionSize);
  for (std::uint64_t i = first; !is_done.load(std::memory_order_relaxed); ++i) {
    calls.wrong += (add(i, ~i) != ~std::uint64_t{0} ? 1 : 0) + (jump(i, 2 * i) != 3 * i ? 1 : 0);
    calls.made += 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long flips = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const SledCode code;
  for (const std::uint32_t at : {0u, static_cast<std::uint32_t>(SledCode::kFunctionSize)}) {
    const jitquill_code news = code.news(at == 0 ? "add" : "jump", at);
    if (jitquill_code_loaded(&news, nullptr) != JITQUILL_OK) return 2;
  }
  std::atomic<bool> is_done{false};
  Calls calls[2];
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] { call_until(is_done, code, i << 32, calls[i]); });
  static const char* const kPatterns[] = {"*", "add", "jump", nullptr};
  unsigned long failed = 0;
  for (unsigned long i = 0; i < flips; ++i)
    failed += jitquill_set_hooks(kPatterns[i % 4]) != JITQUILL_OK ? 1 : 0;
  is_done.store(true);
  for (std::thread& thread : threads) thread.join();
  std::printf("%lu failed, %lu calls, %lu wrong\n", failed, calls[0].made + calls[1].made,
              calls[0].wrong + calls[1].wrong);
  const bool is_right = failed + calls[0].wrong + calls[1].wrong == 0;
  return is_right && calls[0].made != 0 && calls[1].made != 0 ? 0 : 1;
}
