// Announces, forks, and announces in both. Arguments: how many children, one after the other; where a child's
// code goes: apart, or over (what it inherited as function 3); or thread: apart, and a thread forks.
// Parent: functions 0 to 4 before, of which 1 is unloaded; 100 + n after child n. Child n: 10000 + n, and it
// unloads 2. Prints "<pid> <n> <status of the child's announcement>" for each child.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

jitquill_status announce_at(std::uint8_t* addr, std::uint32_t i) {
  return pattern::Announcement(i, addr).announce();
}
jitquill_status announce(CodeMemory& memory, std::uint32_t i) {
  return announce_at(memory.at(i), i);
}

[[noreturn]] void be_child(CodeMemory& memory, std::uint32_t n, bool is_over) {
  const jitquill_status status = announce_at(memory.at(is_over ? 3 : 5), 10'000 + n);
  (void)jitquill_code_unloaded(memory.at(2));
  std::printf("%d %u %d\n", getpid(), n, static_cast<int>(status));
  std::exit(0);
}

// The child goes on in the thread that forked it.
pid_t fork_child(CodeMemory& memory, std::uint32_t n, bool is_over) {
  const pid_t child = fork();
  if (child == 0) be_child(memory, n, is_over);
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string where = argv[2];
  const bool is_over = where == "over";
  const auto children = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  CodeMemory memory(100 + children);
  for (std::uint32_t i = 0; i < 5; ++i) {
    if (announce(memory, i) != JITQUILL_OK) return 3;
  }
  if (jitquill_code_unloaded(memory.at(1)) != JITQUILL_OK) return 4;
  for (std::uint32_t n = 0; n < children; ++n) {
    pid_t child = -1;
    if (where == "thread") {
      std::thread([&] { child = fork_child(memory, n, is_over); }).join();
    } else {
      child = fork_child(memory, n, is_over);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 5;
    if (announce(memory, 100 + n) != JITQUILL_OK) return 6;
  }
  return 0;
}
