// A thread is stopped for ever in the middle of an announcement; then main leaves. Arguments: how: _exit,
// return, exec (of this program, which then says that it arrived).
//
// The thread's own system call filter turns its writes into signals: so the agent is stopped at its write,
// with its lock held, and not somewhere near it.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/host/leave/jit.hpp"

namespace {

std::atomic<bool> is_stopped{false};

void stop_here(int) {
  is_stopped.store(true);
  for (;;) pause();
}

bool trap_writes() {
  struct sigaction action = {};
  action.sa_handler = stop_here;
  sigaction(SIGSYS, &action, nullptr);
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string how = argv[1];
  if (how == "arrived") return std::puts("arrived") < 0 ? 1 : 0;
  Jit jit;
  if (!jit.announce(0, 3)) return 3;
  std::thread([&] {
    constexpr int kCannot = 77;  // the machine does not let us: the driver skips
    if (!trap_writes()) _exit(kCannot);
    jit.announce(3);
    stop_here(0);  // without an agent
  }).detach();
  while (!is_stopped.load()) std::this_thread::yield();
  if (how == "exec") execl("/proc/self/exe", argv[0], "arrived", nullptr);
  if (how == "_exit") _exit(7);
  return how == "return" ? 7 : 2;
}
