#include "agent/cli/host.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "agent/cli/group_watch.hpp"

namespace jitquill::cli {
namespace {

constexpr int kHandedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP};
constexpr int kSignalled = 128;

// While it lives, the signals that we deal with wait to be taken. SIGCHLD must not be ignored: then there
// would be no exit code.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : kHandedOn) sigaddset(&held_, signal);
    sigaddset(&held_, SIGCHLD);
    (void)::sigprocmask(SIG_BLOCK, &held_, &before_);
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    (void)::sigaction(SIGCHLD, &plain, &child_before_);
  }
  // What came for a host that is gone is forgotten.
  ~HeldSignals() {
    constexpr timespec kNow{0, 0};
    while (::sigtimedwait(&held_, nullptr, &kNow) > 0) {
    }
    give_back();
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void give_back() const {
    (void)::sigaction(SIGCHLD, &child_before_, nullptr);
    (void)::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  int take(siginfo_t& info) const { return ::sigwaitinfo(&held_, &info); }

 private:
  sigset_t held_;
  sigset_t before_;
  struct sigaction child_before_ {};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::vector<std::string>& over) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(over, [&](const std::string& ours) { return ours.starts_with(name); }))
      all.emplace_back(text);
  }
  all.insert(all.end(), over.begin(), over.end());
  return all;
}

// In the child. What stops it goes to `trouble`, which a successful exec closes.
[[noreturn]] void become(char* const* words, char* const* environment, int trouble) {
  (void)::execvpe(words[0], words, environment);
  const int error = errno;
  (void)!::write(trouble, &error, sizeof error);
  ::_exit(kSignalled - 1);
}

struct Started {
  pid_t process = -1;
  int error = 0;
};

Started start(const HostCommand& command, const HeldSignals& signals) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = environment_with(command.environment);
  const auto word_pointers = pointers(words);
  const auto environment_pointers = pointers(environment);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return {-1, errno};
  Started started;
  started.process = ::fork();
  if (started.process < 0) started.error = errno;
  if (started.process == 0) {
    signals.give_back();
    become(word_pointers.data(), environment_pointers.data(), pipe[1]);
  }
  ::close(pipe[1]);
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(pipe[0], &error, sizeof error);
  } while (size < 0 && errno == EINTR);
  ::close(pipe[0]);
  if (size != sizeof error) return started;
  (void)::waitpid(started.process, nullptr, 0);
  return {-1, error};
}

// ^C and its kin come from the terminal, which tells the whole group; so may others. A host that left our
// group was not meant by these.
void hand_on(const siginfo_t& info, pid_t host, const GroupWatch& watch) {
  const bool was_for_group = watch.was_for_group(info.si_signo);
  const bool is_from_terminal = info.si_code == SI_KERNEL;
  const bool is_in_group = ::getpgid(host) == ::getpgrp();
  if (is_from_terminal || (was_for_group && is_in_group)) return;
  (void)::kill(host, info.si_signo);
}

// The shell must see the whole job stop; the host alone is the user's business where a debugger stopped it.
void stop_too(int status) {
  const int signal = WSTOPSIG(status);
  if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) (void)::kill(::getpid(), SIGSTOP);
}

HostEnd wait_for(pid_t host, const HeldSignals& signals, const GroupWatch& watch) {
  for (;;) {
    int status = 0;
    const pid_t waited = ::waitpid(host, &status, WNOHANG | WUNTRACED);
    if (waited == host && WIFEXITED(status)) return {0, WEXITSTATUS(status), 0};
    if (waited == host && WIFSIGNALED(status)) return {0, 0, WTERMSIG(status)};
    if (waited == host && WIFSTOPPED(status)) stop_too(status);
    siginfo_t info{};
    if (signals.take(info) > 0 && info.si_signo != SIGCHLD) hand_on(info, host, watch);
  }
}

}  // namespace

HostEnd run_host(const HostCommand& command) {
  const HeldSignals signals;
  const GroupWatch watch;
  const Started started = start(command, signals);
  if (started.process < 0) return {started.error, 0, 0};
  return wait_for(started.process, signals, watch);
}

void end_as(const HostEnd& end) {
  if (end.signal == 0) std::exit(end.exit_code);
  (void)std::fflush(nullptr);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  (void)::signal(end.signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, end.signal);
  (void)::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  (void)::raise(end.signal);
  std::_Exit(kSignalled + end.signal);
}

}  // namespace jitquill::cli
