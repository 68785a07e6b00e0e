// Threads are cancelled while they announce. Arguments: rounds, "deferred" or "asynchronous". Each round
// prints "<round> <announcements that returned>" and announces one more function from the main thread.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

struct Round {
  pattern::Announcement* announcement;
  int cancel_type;
  std::atomic<std::uint32_t> returned{0};
};

// Nothing here but the announcement may be interrupted at any instruction, and it must be.
void* announce_for_ever(void* argument) {
  auto* round = static_cast<Round*>(argument);
  int before;
  pthread_setcanceltype(round->cancel_type, &before);
  for (;;) {
    if (round->announcement->announce() < 0) _exit(5);
    round->returned.fetch_add(1);
    pthread_testcancel();
  }
}

bool run_round(Round& round, unsigned delay_us) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, announce_for_ever, &round) != 0) return false;
  while (round.returned.load() == 0) sched_yield();
  usleep(delay_us);
  pthread_cancel(thread);
  void* result = nullptr;
  return pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto rounds = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const bool deferred = std::strcmp(argv[2], "deferred") == 0;
  CodeMemory memory(2 * std::size_t{rounds});
  std::deque<pattern::Announcement> prepared;
  for (std::uint32_t i = 0; i < 2 * rounds; ++i) prepared.emplace_back(i, memory.at(i));
  std::mt19937 random(rounds);
  for (std::uint32_t r = 0; r < rounds; ++r) {
    Round round{&prepared[2 * r], deferred ? PTHREAD_CANCEL_DEFERRED : PTHREAD_CANCEL_ASYNCHRONOUS};
    if (!run_round(round, static_cast<unsigned>(random() % 300))) return 3;
    std::printf("%u %u\n", r, round.returned.load());
    if (prepared[2 * r + 1].announce() != JITQUILL_OK) return 4;
  }
  return 0;
}
