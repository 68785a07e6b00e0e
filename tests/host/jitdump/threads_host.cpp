// Many threads announce at once. Arguments: threads, functions of each. Thread t has the numbers from t *
// each.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/host/jitdump/code_memory.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto threads = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto each = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  CodeMemory memory(std::size_t{threads} * each);
  std::atomic<std::uint32_t> failed{0};
  std::atomic<std::uint32_t> waiting{threads};
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      waiting.fetch_sub(1);
      while (waiting.load() > 0) std::this_thread::yield();
      for (std::uint32_t i = t * each; i < (t + 1) * each; ++i) {
        if (pattern::Announcement(i, memory.at(i)).announce() != JITQUILL_OK) failed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return failed.load() == 0 ? 0 : 1;
}
