// What kill_host does, and how far it is: it survives the host in a file.
//
// Each thread, and each kind of signal handler in it, makes entries, ends and posts in a sequence of its own
// that is known beforehand. It counts each before and after it is made.
//
// Context   kill_host and its drivers.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kill_record {

inline constexpr unsigned kThreads = 3;
inline constexpr unsigned kLevels = 3;  // the thread itself, a handler, a handler that may interrupt that
inline constexpr unsigned kFirstEvent = 2000;  // and the level
inline constexpr unsigned kFunctions = 16;     // of each sort and level

// How many were begun, and how many were made for sure.
struct Tally {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> done;
};

struct Level {
  Tally entries, ends, posts;
};

struct Thread {
  std::atomic<int> tid;
  Level levels[kLevels];
};

struct Progress {
  std::atomic<int> pid;
  Thread threads[kThreads];
};

// Zero in a new file; null on failure. Stays mapped until exit.
inline Progress* map(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Progress*>(memory);
}

// Made for sure, by all.
inline std::uint64_t entries(const Progress& progress) {
  std::uint64_t sum = 0;
  for (const Thread& thread : progress.threads) {
    for (const Level& level : thread.levels) sum += level.entries.done.load();
  }
  return sum;
}

// Calls kill() when so many entries are made, or after a minute.
template <class Kill>
void kill_at(const Progress& progress, std::uint64_t target, Kill kill) {
  const time_t deadline = time(nullptr) + 60;
  while (entries(progress) < target && time(nullptr) < deadline) sched_yield();
  kill();
}

// Which function the `entry`th entry of a level of a thread is of: one more or less, and the rest is others.
inline unsigned function_of(unsigned thread, unsigned level, std::uint64_t entry) {
  const std::uint64_t mixed = (entry + 1) * 0x9E3779B97F4A7C15u + thread * 77 + level * 1009;
  return static_cast<unsigned>(mixed >> 59) % kFunctions;
}
// Payload bytes.
inline std::size_t post_size(std::uint64_t post) {
  return static_cast<std::size_t>((post + 1) * 0x9E3779B97F4A7C15u >> 58);
}

// The `step`th of a level: `doer` calls a jitted function, enters and leaves one of an interpreter, posts.
template <class Doer>
void do_step(std::uint64_t step, Doer& doer) {
  switch (step % 4) {
    case 0:
      doer.enter(0);
      doer.enter(1);
      doer.leave(1);
      doer.leave(0);
      break;
    case 1:
      doer.enter(0);
      doer.call();
      doer.call();
      doer.leave(0);
      break;
    default:
      doer.call();
  }
  if (step % 16 == 5) doer.post();
}

}  // namespace kill_record
