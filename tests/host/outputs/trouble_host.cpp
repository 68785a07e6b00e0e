// Announces while something that the agent needs is not to be had. Argument: what.
//   pipe         stderr is a full pipe that nobody reads
//   number       the number of stderr became a file of the host's
//   descriptors  none is free while a folder fills, then all are again
//   memory       no more of it, with code that moves
// Prints how many announcements were done.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kFunctions = 1'000;

bool fill_stderr() {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) return false;
  fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
  while (write(STDERR_FILENO, "x", 1) == 1) {
  }
  return fcntl(STDERR_FILENO, F_SETFL, 0) == 0;
}

bool take_number() {
  close(STDERR_FILENO);
  return open("hosts_own", O_RDWR | O_CREAT | O_TRUNC, 0600) == STDERR_FILENO;
}

bool limit_memory() {
  unsigned long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) return false;
  std::fclose(file);
  const rlimit limit = {pages * 4096 + 100 * 1024, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// From now on no descriptor is to be had; or all again.
bool limit_descriptors(bool are_taken) {
  static rlimit before = {};
  if (before.rlim_cur == 0 && getrlimit(RLIMIT_NOFILE, &before) != 0) return false;
  const rlimit none = {3, before.rlim_max};
  return setrlimit(RLIMIT_NOFILE, are_taken ? &none : &before) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string what = argv[1];
  alarm(60);
  if (what == "pipe" && !fill_stderr()) return 3;
  if (what == "number" && !take_number()) return 3;
  CodeMemory memory(kFunctions + 1);
  std::uint32_t done = 0;
  jitquill_status last = JITQUILL_OK;
  bool were_refused = false;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    pattern::Announcement announcement(i, memory.at(i));
    if (what == "memory") announcement.code().flags = JITQUILL_CODE_MAY_MOVE;
    last = announcement.announce();
    if (last == JITQUILL_OK) ++done;
    if (i == 0 && what == "memory" && !limit_memory()) return 4;
    if (i == 0 && what == "descriptors" && !limit_descriptors(true)) return 4;
    if (last == JITQUILL_NO_OUTPUT && !were_refused) were_refused = limit_descriptors(false);
    if (what == "memory" && i % 3 == 0) (void)jitquill_code_moved(memory.at(i), memory.at(kFunctions), 0);
  }
  if (what == "descriptors" && (!were_refused || last != JITQUILL_OK)) return 5;
  std::printf("%u\n", done);
  return 0;
}
