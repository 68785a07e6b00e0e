// Does what its arguments say, in their order:
//
//   new:NAME         announces a jitted function            call:NAME:N    calls it so many times
//   function:NAME    one of an interpreter                  thread:NAME:N  the same, in a thread that ends
//   stop  start      of the agent                           tasks          prints how many threads there are
//   fork ... end     the words between in a child, awaited; where it forks, children count up
//   handler-fork ... end   the same, from a signal handler
//   vfork:PROGRAM  spawn:PROGRAM  system:COMMAND            run it and wait
//   exec:PROGRAM     becomes it; goes on if that fails      daemon         goes on as a daemon
//   close-all        all descriptors but the first three    limit:BYTES    files may not grow beyond
//   _exit  quick_exit  abort  segv  kill  thread-exit       ends
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "tests/host/sites/sled_code.hpp"

extern char** environ;

namespace {

struct Function {
  SledCode* code = nullptr;  // null: an interpreter's
  std::uint64_t id = 0;
};
std::map<std::string, Function> g_functions;

[[noreturn]] void fail(const std::string& word) {
  std::printf("cannot: %s\n", word.c_str());
  std::fflush(stdout);
  _exit(9);
}

std::pair<std::string, std::string> cut(const std::string& text) {
  const std::size_t at = text.find(':');
  return at == text.npos ? std::pair{text, std::string()}
                         : std::pair{text.substr(0, at), text.substr(at + 1)};
}

void announce(const std::string& name) {
  Function& function = g_functions[name];
  function.code = new SledCode;
  const jitquill_code code = function.code->news(name.c_str(), 0);
  (void)jitquill_code_loaded(&code, &function.id);
}

void declare(const std::string& name) {
  const jitquill_function_info info = {sizeof info, 0, name.c_str(), nullptr};
  (void)jitquill_function(&info, &g_functions[name].id);
}

void call(const Function& function) {
  if (function.code == nullptr) {
    (void)jitquill_enter(function.id, 1);
    (void)jitquill_leave(function.id, 1);
  } else if (function.code->function(0)(40, 2) != 42) {
    std::abort();
  }
}

void call(const std::string& name, const std::string& times) {
  const auto function = g_functions.find(name);
  if (function == g_functions.end()) fail("call:" + name);
  for (unsigned long i = std::strtoul(times.c_str(), nullptr, 10); i > 0; --i) call(function->second);
}

void await(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) fail("child");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::printf("a child ended by %d\n", status);
  std::fflush(stdout);
}

pid_t g_forked = -1;
void fork_here(int) {
  g_forked = fork();
}

pid_t fork_in(bool handler) {
  if (!handler) return fork();
  signal(SIGUSR1, fork_here);
  raise(SIGUSR1);
  return g_forked;
}

char** words_of(const std::string& program) {
  static char* words[2];
  words[0] = const_cast<char*>(program.c_str());
  return words;
}

void spawn(const std::string& program) {
  pid_t child = -1;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, words_of(program), environ) != 0) fail("spawn");
  await(child);
}

void vfork_and_exec(const std::string& program) {
  char** const words = words_of(program);
  const pid_t child = vfork();
  if (child == 0) {
    execve(words[0], words, environ);
    _exit(8);
  }
  await(child);
}

void print_tasks() {
  namespace fs = std::filesystem;
  const auto count = std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  std::printf("%ld tasks\n", static_cast<long>(count));
}

void close_all() {
  for (int descriptor = 3; descriptor < 4096; ++descriptor) close(descriptor);
}

void limit_files(const std::string& bytes) {
  const rlimit limit = {std::strtoul(bytes.c_str(), nullptr, 10), RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

bool end_by(const std::string& word) {
  if (word == "_exit") _exit(0);
  if (word == "quick_exit") quick_exit(0);
  if (word == "abort") std::abort();
  if (word == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (word == "kill") kill(getpid(), SIGKILL);
  if (word == "thread-exit") pthread_exit(nullptr);
  return false;
}

bool leave(const std::string& word, const std::string& rest) {
  if (word == "exec") {
    char* const words[] = {const_cast<char*>(rest.c_str()), nullptr};
    execv(rest.c_str(), words);
    return true;
  }
  if (word == "daemon") return daemon(1, 1) == 0;
  return end_by(word);
}

bool run_other(const std::string& word, const std::string& rest) {
  if (word == "vfork") return vfork_and_exec(rest), true;
  if (word == "spawn") return spawn(rest), true;
  if (word == "system") return std::system(rest.c_str()) == 0;
  return leave(word, rest);
}

bool trace(const std::string& word, const std::string& rest) {
  const auto [name, times] = cut(rest);
  if (word == "new") return announce(rest), true;
  if (word == "function") return declare(rest), true;
  if (word == "call") return call(name, times), true;
  if (word == "thread") {
    std::thread([&name = name, &times = times] { call(name, times); }).join();
    return true;
  }
  if (word == "stop") return jitquill_stop() == JITQUILL_OK;
  if (word == "start") return jitquill_start(nullptr) == JITQUILL_OK;
  if (word == "tasks") return print_tasks(), true;
  if (word == "close-all") return close_all(), true;
  if (word == "limit") return limit_files(rest), true;
  return run_other(word, rest);
}

// Behind the `end` of the fork at `at`.
int behind_end(int argc, char** argv, int at) {
  int depth = 1;
  for (++at; at < argc && depth > 0; ++at) {
    const std::string word = argv[at];
    if (word == "fork" || word == "handler-fork") ++depth;
    if (word == "end") --depth;
  }
  return at;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "end") return 0;  // of a child
    if (text == "fork" || text == "handler-fork") {
      std::fflush(stdout);
      const pid_t child = fork_in(text == "handler-fork");
      if (child == 0) continue;
      await(child);
      i = behind_end(argc, argv, i) - 1;
      continue;
    }
    const auto [word, rest] = cut(text);
    if (!trace(word, rest)) fail(text);
  }
  std::fflush(stdout);
  return 0;
}
