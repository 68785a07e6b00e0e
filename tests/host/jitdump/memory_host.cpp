// Announces until the process may have no more memory, and beyond. Arguments: children, and when memory ends
// for the n-th of them:
//   later  some time after its first function; it begins with n functions of which the agent remembers less,
//          so that memory runs out at another place
//   first  n pages after what it had before its first function, for which the agent opens its outputs
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kFunctions = 600;
constexpr std::uint32_t kSome = 20;
constexpr rlim_t kMore = 64 * 1024;  // bytes beyond what the process has: less than the agent takes at once

rlim_t page_size() {
  return static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

bool limit_memory(rlim_t more) {
  unsigned long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) return false;
  std::fclose(file);
  const rlimit limit = {pages * page_size() + more, RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// Every function is there once for all, or it was refused for want of memory.
int announce_all(CodeMemory& memory, std::uint32_t small) {
  bool refused = false;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    pattern::Announcement announcement(i, memory.at(i));
    if (i >= small) announcement.code().flags = JITQUILL_CODE_MAY_MOVE;
    const jitquill_status status = announcement.announce();
    if (i == 0 && (status != JITQUILL_OK || !limit_memory(kMore))) return 3;
    if (status == JITQUILL_NO_MEMORY) refused = true;
  }
  return refused ? 0 : 4;
}

// Whatever the agent could not have, it said no and did no harm.
int announce_some(CodeMemory& memory, std::uint32_t pages) {
  if (!limit_memory(pages * page_size())) return 3;
  for (std::uint32_t i = 0; i < kSome; ++i) {
    const jitquill_status status = pattern::Announcement(i, memory.at(i)).announce();
    const bool is_refused =
        status == JITQUILL_NO_MEMORY || status == JITQUILL_NO_OUTPUT || status == JITQUILL_OFF;
    if (status < 0 && !is_refused) return 4;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool at_first = std::strcmp(argv[2], "first") == 0;
  const auto children = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  CodeMemory memory(kFunctions);
  for (std::uint32_t c = 0; c < children; ++c) {
    const pid_t child = fork();
    if (child == 0) _exit(at_first ? announce_some(memory, c) : announce_all(memory, c));
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
      std::printf("child %u ended with status %x\n", c, static_cast<unsigned>(status));
      return 1;
    }
  }
  return 0;
}
