// Announces until the process may have no more memory, and beyond. Arguments: children. The n-th begins with
// n functions of which the agent remembers less, so that memory runs out at another place.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kFunctions = 600;
constexpr rlim_t kMore = 64 * 1024;  // bytes beyond what the process has: less than the agent takes at once

bool limit_memory() {
  unsigned long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) return false;
  std::fclose(file);
  const rlim_t now = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlimit limit = {now + kMore, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// Every function is there once for all, or it was refused for want of memory.
int announce_all(CodeMemory& memory, std::uint32_t small) {
  bool refused = false;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    pattern::Announcement announcement(i, memory.at(i));
    if (i >= small) announcement.code().flags = JITQUILL_CODE_MAY_MOVE;
    const jitquill_status status = announcement.announce();
    if (i == 0 && (status != JITQUILL_OK || !limit_memory())) return 3;
    if (status == JITQUILL_NO_MEMORY) refused = true;
  }
  return refused ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto children = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  CodeMemory memory(kFunctions);
  for (std::uint32_t c = 0; c < children; ++c) {
    const pid_t child = fork();
    if (child == 0) _exit(announce_all(memory, c));
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
      std::printf("child %u ended with status %x\n", c, static_cast<unsigned>(status));
      return 1;
    }
  }
  return 0;
}
