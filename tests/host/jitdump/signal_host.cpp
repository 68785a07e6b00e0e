// A timer's signal handler announces while the threads that it interrupts announce too. Arguments: how many
// functions the handler is to announce. The main thread has the even numbers, the second thread and the
// handler share the odd ones: first the handler's. Prints "<main's> <second's> <handler's>".
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kMost = 60'000;  // of each announcer; more than the time allows

std::deque<pattern::Announcement>* of_handler;
std::atomic<std::uint32_t> handled{0};
std::atomic<std::uint32_t> wanted{0};
std::atomic<bool> failed{false};

void announce_next(int) {
  static std::atomic<bool> busy{false};  // both threads may be interrupted
  if (handled.load() == wanted.load() || busy.exchange(true)) return;
  const jitquill_status status = (*of_handler)[handled.load()].announce();
  if (status != JITQUILL_OK && status != JITQUILL_QUEUED) failed.store(true);
  handled.fetch_add(1);
  busy.store(false);
}

void start_timer(bool on) {
  struct sigaction action = {};
  action.sa_handler = announce_next;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every = {{0, on ? 100 : 0}, {0, on ? 100 : 0}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

std::uint32_t announce_until_handled(CodeMemory& memory, std::uint32_t from) {
  std::uint32_t count = 0;
  for (; count < kMost && handled.load() < wanted.load(); ++count) {
    const std::uint32_t i = from + count;
    if (pattern::Announcement(i, memory.at(i)).announce() != JITQUILL_OK) failed.store(true);
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  wanted.store(static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)));
  CodeMemory memory(2 * kMost + wanted.load());
  std::deque<pattern::Announcement> prepared;
  for (std::uint32_t i = 0; i < wanted.load(); ++i)
    prepared.emplace_back(2 * kMost + i, memory.at(2 * kMost + i));
  of_handler = &prepared;
  jitquill_wants_code();  // looks the agent up outside of handlers
  start_timer(true);
  std::uint32_t of_second = 0;
  std::thread second([&] { of_second = announce_until_handled(memory, kMost); });
  const std::uint32_t of_main = announce_until_handled(memory, 0);
  second.join();
  while (handled.load() < wanted.load()) std::this_thread::yield();
  start_timer(false);
  std::printf("%u %u %u\n", of_main, of_second, handled.load());
  return failed.load() ? 1 : 0;
}
