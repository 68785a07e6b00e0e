// Announces functions and tells through a shared file how many announcements have returned. Then waits to be
// killed. Arguments: the shared file, how many functions.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/host/jitdump/code_memory.hpp"
#include "tests/host/jitdump/kill_progress.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  KillProgress* progress = map_kill_progress(argv[1]);
  if (progress == nullptr) return 3;
  progress->pid.store(getpid());
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  CodeMemory memory(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    pattern::Announcement announcement(i, memory.at(i));
    if (announcement.announce() != JITQUILL_OK) return 4;
    progress->returned.store(i + 1);
  }
  for (;;) pause();
}
