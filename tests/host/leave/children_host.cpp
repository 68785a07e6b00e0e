// Announces functions 0 to 4, makes children, and announces 40. Arguments: how.
//   fork          the child announces 5 to 7 and calls _exit
//   fork_silent   the child calls _exit
//   fork_exec     the child announces 5 to 7 and becomes `child`
//   vfork         the child calls _exit
//   vfork_exec    the child becomes `child`
//   vfork_fails   the child's execv fails, and it calls _exit
//   spawn system popen   libc starts `child` by itself
//   threads       while three threads announce, 20 children call _exit and 20 become `silent`
//   child         what is started: announces 20 to 22;  silent: nothing
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/leave/jit.hpp"

namespace {

char kSelf[] = "/proc/self/exe";
char kChild[] = "child";
char kSilent[] = "silent";
char* const kArguments[] = {kSelf, kChild, nullptr};
char* const kSilentArguments[] = {kSelf, kSilent, nullptr};

void say_end_of(pid_t child) {
  int status = 0;
  const bool is_known = child > 0 && waitpid(child, &status, 0) == child;
  std::printf("child: %s, status %x\n", is_known ? "ended" : "lost", static_cast<unsigned>(status));
}

pid_t by_fork(const std::string& how, Jit& jit) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (how != "fork_silent" && !jit.announce(5, 8)) _exit(1);
  if (how == "fork_exec") execv(kSelf, kArguments);
  _exit(3);
}

// In the parent's memory: only what is told below.
pid_t by_vfork(const std::string& how) {
  const pid_t child = vfork();
  if (child != 0) return child;
  if (how == "vfork_exec") execve(kSelf, kArguments, environ);
  if (how == "vfork_fails" && execv("/nonexistent", kArguments) == -1 && errno == ENOENT) _exit(4);
  _exit(3);
}

pid_t by_spawn() {
  pid_t child = -1;
  return posix_spawn(&child, kSelf, nullptr, nullptr, kArguments, environ) == 0 ? child : -1;
}

// The shell's /proc/self/exe is the shell.
std::string command(const char* self) {
  return std::string(self) + " child";
}

void by_popen(const char* self) {
  std::FILE* pipe = popen(command(self).c_str(), "r");
  char line[64] = {};
  std::printf("popen: %s", std::fgets(line, sizeof line, pipe) != nullptr ? line : "nothing\n");
  std::printf("pclose: %d\n", pclose(pipe));
}

void among_threads(Jit& jit) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!done.load()) (void)jit.announce(30 + t);
    });
  }
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) alarm(20);  // one that waits for a lock of its parent's threads must not wait for ever
    if (child == 0 && i % 2 == 0) execv(kSelf, kSilentArguments);
    if (child == 0) _exit(3);
    say_end_of(child);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

void make_children(const std::string& how, Jit& jit, const char* self) {
  std::fflush(stdout);
  if (how.starts_with("fork")) return say_end_of(by_fork(how, jit));
  if (how.starts_with("vfork")) return say_end_of(by_vfork(how));
  if (how == "spawn") return say_end_of(by_spawn());
  if (how == "popen") return by_popen(self);
  if (how == "threads") return among_threads(jit);
  std::printf("system: %d\n", how == "system" ? std::system(command(self).c_str()) : -1);
}

// A child that wrote its parent's statistics shows here: the parent has not left yet.
bool has_statistics() {
  const char* folder = jitquill_output_folder();
  return folder != nullptr && access((std::string(folder) + "/stats").c_str(), F_OK) == 0;
}

int be_child() {
  const bool good = Jit().announce(20, 23);
  std::printf("the child's line\n");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string how = argv[1];
  if (how == kSilent) return 3;
  if (how == kChild) return be_child();
  Jit jit;
  if (!jit.announce(0, 5)) return 3;
  make_children(how, jit, argv[0]);
  if (has_statistics()) return 4;
  return jit.announce(40) ? 0 : 5;
}
