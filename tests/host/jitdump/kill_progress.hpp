// What a host that will be killed shares with the one that kills it: it survives in the file.
//
// Context   kill_host and its drivers.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

struct KillProgress {
  std::atomic<pid_t> pid;
  std::atomic<std::uint32_t> returned;  // announcements whose call has returned
};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

// Zero in a new file; null on failure. Stays mapped until exit.
inline KillProgress* map_kill_progress(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(KillProgress)) != 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(KillProgress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<KillProgress*>(memory);
}
