// Announces at a limit. Arguments: the limit and what the host does with the signal of that limit.
//   fsize=N default|blocked|handled   files may grow to N bytes
//   nofile=N default                  descriptors from N on do not exist
//   disk=N default                    the folder "small", a file system of N bytes, is where it writes
//   stderr=0 default|blocked|handled  nobody reads what the agent says on stderr
// Prints how many announcements were done; fails if the host saw a signal.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr std::uint32_t kFunctions = 400;
volatile sig_atomic_t handled = 0;

void on_signal(int) {
  handled = 1;
}

void prepare(int number, const std::string& how) {
  if (how == "handled") signal(number, on_signal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  if (how == "blocked") sigprocmask(SIG_BLOCK, &set, nullptr);
}

bool is_pending(int number) {
  sigset_t set;
  return sigpending(&set) == 0 && sigismember(&set, number) == 1;
}

bool limit(int resource, rlim_t to) {
  const rlimit wanted{to, RLIM_INFINITY};
  const rlimit hard{to, to};
  return setrlimit(static_cast<__rlimit_resource_t>(resource), resource == RLIMIT_FSIZE ? &wanted : &hard) ==
         0;
}

// Our user keeps its name in the new name space, without which it can make no file there.
bool enter_name_space() {
  const std::string user = std::to_string(getuid());
  const std::string group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
  std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
  return getuid() == static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10));
}

bool mount_small(rlim_t bytes) {
  constexpr int kCannot = 77;  // the machine does not let us: the driver skips
  const std::string size = "size=" + std::to_string(bytes);
  if (!enter_name_space() || mkdir("small", 0700) != 0 ||
      mount("none", "small", "tmpfs", 0, size.c_str()) != 0)
    _exit(kCannot);
  const jitquill_start_options options = {sizeof options, "dir=small"};
  return jitquill_start(&options) == JITQUILL_OK;
}

// Out of the file system, which goes with us.
void save_outputs() {
  for (const auto& output : std::filesystem::directory_iterator(jitquill_output_folder()))
    std::filesystem::copy_file(output.path(), output.path().filename());
}

bool set_up(const std::string& what, rlim_t to, const std::string& how) {
  prepare(what == "stderr" ? SIGPIPE : SIGXFSZ, how);
  if (what == "fsize") return limit(RLIMIT_FSIZE, to);
  if (what == "disk") return mount_small(to);
  if (what == "nofile") return syscall(SYS_close_range, 3u, ~0u, 0u) == 0 && limit(RLIMIT_NOFILE, to);
  int ends[2];
  return pipe(ends) == 0 && close(ends[0]) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO &&
         close(ends[1]) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string argument = argv[1];
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return 2;
  CodeMemory memory(kFunctions);
  if (!set_up(argument.substr(0, equals), std::strtoul(argv[1] + equals + 1, nullptr, 10), argv[2])) return 3;
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    const int status = pattern::Announcement(i, memory.at(i)).announce();
    if (status >= 0) ++done;
  }
  const bool is_clean = handled == 0 && !is_pending(SIGXFSZ) && !is_pending(SIGPIPE);
  // Our own output goes the way that files of that size cannot.
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  if (argument.starts_with("disk")) save_outputs();
  std::printf("%u\n", done);
  return is_clean ? 0 : 1;
}
