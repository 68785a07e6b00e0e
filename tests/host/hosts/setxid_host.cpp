// Sets its user and group, to what they are, while other threads announce: glibc interrupts every thread for
// that and waits for each. Arguments: changes. Prints how many functions each thread announced.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kThreads = 3;
constexpr std::uint32_t kMost = 20'000;  // a thread

std::atomic<bool> is_over{false};

std::uint32_t announce_until_over(const CodeMemory& memory, std::uint32_t first) {
  std::uint32_t done = 0;
  while (done < kMost && !is_over.load()) {
    if (pattern::Announcement(first + done, memory.at(first + done)).announce() != JITQUILL_OK) std::abort();
    ++done;
  }
  return done;
}

bool change_all(unsigned changes) {
  for (unsigned i = 0; i < changes; ++i) {
    if (setgid(getgid()) != 0 || setuid(getuid()) != 0) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const CodeMemory memory(kThreads * kMost);
  std::array<std::uint32_t, kThreads> done{};
  std::array<std::thread, kThreads> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads[t] = std::thread([&memory, &done, t] { done[t] = announce_until_over(memory, t * kMost); });
  }
  const bool is_good = change_all(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)));
  is_over.store(true);
  for (std::thread& thread : threads) thread.join();
  for (const std::uint32_t count : done) std::printf("%u\n", count);
  return is_good ? 0 : 1;
}
