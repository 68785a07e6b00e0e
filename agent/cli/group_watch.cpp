#include "agent/cli/group_watch.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace jitquill::cli {
namespace {

// The kernel signals the members of a group one after the other: we may look before the last had it.
constexpr int kLooks = 5;
constexpr timespec kBetweenLooks{0, 1'000'000};

void read_or_end(int wire) {
  char byte = 0;
  ssize_t size = 0;
  do {
    size = ::read(wire, &byte, 1);
  } while (size < 0 && errno == EINTR);
  if (size != 1) ::_exit(0);  // who started us is gone
}

[[noreturn]] void keep_signals(int wire) {
  (void)::prctl(PR_SET_NAME, "jitquill-watch");
  const int kept = ::dup2(wire, 0);
  (void)::close_range(1, ~0u, 0);
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    read_or_end(kept);
    constexpr timespec kNow{0, 0};
    while (::sigtimedwait(&all, nullptr, &kNow) > 0 || errno == EINTR) {
    }
    const char done = 0;
    if (::write(kept, &done, 1) != 1) ::_exit(0);
  }
}

// Of the whole process, as a mask; 0 where /proc does not show it.
std::uint64_t pending_in(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("ShdPnd:")) return std::strtoull(line.c_str() + sizeof "ShdPnd:" - 1, nullptr, 16);
  }
  return 0;
}

}  // namespace

GroupWatch::GroupWatch() {
  int wires[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires) != 0) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  (void)::sigprocmask(SIG_SETMASK, &all, &before);
  process_ = ::fork();
  if (process_ == 0) {
    ::close(wires[0]);
    keep_signals(wires[1]);
  }
  (void)::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(wires[1]);
  wire_ = wires[0];
}

GroupWatch::~GroupWatch() {
  if (wire_ >= 0) ::close(wire_);
  if (process_ > 0) {
    (void)::kill(process_, SIGKILL);
    (void)::waitpid(process_, nullptr, 0);
  }
}

bool GroupWatch::was_for_group(int signal) const {
  if (process_ <= 0) return false;
  const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  bool was = false;
  for (int look = 0; look < kLooks && !was; ++look) {
    if (look != 0) (void)::nanosleep(&kBetweenLooks, nullptr);
    was = (pending_in(process_) & bit) != 0;
  }
  char byte = 0;
  if (was && (::send(wire_, &byte, 1, MSG_NOSIGNAL) != 1 || ::read(wire_, &byte, 1) != 1)) return was;
  return was;
}

}  // namespace jitquill::cli
