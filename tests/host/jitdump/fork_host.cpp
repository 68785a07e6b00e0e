// Forks while threads announce. Arguments: children, how: fork, or clone (the bare system call, which no fork
// handler hears of). The main thread announces 0, each child announces
// 1 + its number, then the main thread announces 1 + children. A child that stays silent is forked too.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kThreads = 3;

bool announce(CodeMemory& memory, std::uint32_t i) {
  return pattern::Announcement(i, memory.at(i)).announce() == JITQUILL_OK;
}

// The pid is what the driver knows a child's files by.
pid_t fork_child(CodeMemory& memory, std::uint32_t i, bool is_bare) {
  const pid_t child = is_bare ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) : fork();
  if (child != 0) return child;
  alarm(20);  // a child that waits for a lock of its parent's threads must not wait for ever
  const int status = announce(memory, i) ? 0 : 1;
  if (is_bare) _exit(status);  // locks of the C library may be held for ever
  std::exit(status);
}

bool succeeded(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_bare = std::string(argv[2]) == "clone";
  const auto children = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  CodeMemory memory(children + 2);
  CodeMemory noise(kThreads);
  if (!announce(memory, 0)) return 3;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      pattern::Announcement announcement(1'000'000 + t, noise.at(t));
      while (!done.load()) (void)announcement.announce();
    });
  }
  bool good = true;
  for (std::uint32_t c = 0; c < children; ++c) {
    const pid_t child = fork_child(memory, 1 + c, is_bare);
    std::printf("%d %u\n", child, 1 + c);
    std::fflush(stdout);
    good = succeeded(child) && good;
  }
  const pid_t silent = fork();
  if (silent == 0) std::exit(0);
  good = succeeded(silent) && good;
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  return announce(memory, 1 + children) && good ? 0 : 1;
}
