// Children that run their parent's traced code. Arguments: how, calls that a child makes. The parent calls
// `parent` three times, and makes the child in the second.
//
//   clone    by the system call, with memory of its own
//   fork     ends by exit()
//   atfork   the same, and a handler of pthread_atfork() that was there before any library's calls `child`
//   vfork    in its parent's memory
//   vfork-open   the same, and ends inside a call
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/host/run/traced_code.hpp"

namespace {

enum : unsigned { kParent, kChild };

const TracedCode* code;
const char* how;
long calls;

void call_in_child() {
  for (long i = 0; i < calls; ++i) code->call(kChild);
}

bool is(const char* name) {
  return std::strcmp(how, name) == 0;
}

void handle_fork() {
  if (code != nullptr && is("atfork")) call_in_child();
}

void register_early(int, char**, char**) {
  pthread_atfork(nullptr, nullptr, handle_fork);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kEarly)(int, char**, char**) = register_early;

std::uint64_t end_here(void*) {
  _exit(0);
}

pid_t start_clone() {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child != 0) return child;
  call_in_child();
  syscall(SYS_exit_group, 0);
  return -1;
}

pid_t start_fork() {
  const pid_t child = fork();
  if (child != 0) return child;
  call_in_child();
  std::exit(0);
}

// The child is in this very frame.
pid_t start_vfork() {
  const pid_t child = vfork();
  if (child != 0) return child;
  call_in_child();
  if (is("vfork-open")) code->call(kChild, end_here);
  _exit(0);
}

std::uint64_t make_child(void*) {
  const pid_t child = is("clone") ? start_clone() : is("fork") || is("atfork") ? start_fork() : start_vfork();
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::abort();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  how = argv[1];
  calls = std::strtol(argv[2], nullptr, 10);
  const TracedCode traced;
  traced.load({"parent", "child"});
  code = &traced;
  code->call(kParent);
  code->call(kParent, make_child);
  code->call(kParent);
  return 0;
}
