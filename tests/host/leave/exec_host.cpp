// Announces functions 0 to 4 and becomes itself anew, which announces 10 to 12. Arguments: how.
//   <function>    one of exec_ways.hpp, from main
//   path          by execvp, execvpe or execlp (second argument), found in the second folder of PATH
//   many          by execl or execle (second argument) with 300 arguments
//   thread        by execv from a thread
//   handler       by execve from a signal's handler
//   failing       every function fails for every reason, and functions are announced all along
//   cancelled     threads whose execv fails again and again are cancelled, asynchronously
//   arrived ...   the new image
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/leave/exec_ways.hpp"
#include "tests/host/leave/jit.hpp"

namespace {

char kSelf[] = "/proc/self/exe";
char kArrived[] = "arrived";
char* const kArguments[] = {kSelf, kArrived, nullptr};

// Ours, and one more variable.
char* const* environment() {
  static std::vector<char*> all;
  static char mark[] = "GIVEN_BY_EXEC=yes";
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  all.push_back(mark);
  all.push_back(nullptr);
  return all.data();
}

// The pid is the old one's, which the output must not show.
int arrive(int argc, char** argv) {
  std::string all;
  for (int i = 0; i < argc; ++i) all += argv[i], all += ' ';
  const char* given = std::getenv("GIVEN_BY_EXEC");
  const bool is_same = std::getenv("OLD_PID") == std::to_string(getpid());
  std::printf("%d arguments: %s\ngiven: %s\n%s pid\n", argc, all.c_str(), given == nullptr ? "" : given,
              is_same ? "same" : "another");
  return Jit().announce(10, 13) ? 0 : 1;
}

#define TEN(word) word, word, word, word, word, word, word, word, word, word
#define HUNDRED(word) \
  TEN(word), TEN(word), TEN(word), TEN(word), TEN(word), TEN(word), TEN(word), TEN(word), TEN(word), TEN(word)
#define MANY HUNDRED("x"), HUNDRED("y"), HUNDRED("z")

void exec_many(const std::string& function) {
  if (function == "execl") execl(kSelf, kSelf, kArrived, MANY, nullptr);
  if (function == "execle") execle(kSelf, kSelf, kArrived, MANY, nullptr, environment());
}

void exec_in_handler(int) {
  execve(kSelf, kArguments, environ);
}

void exec_in_path(const ExecWay& way, std::string self) {
  const std::size_t slash = self.rfind('/');
  setenv("PATH", ("/nonexistent:" + self.substr(0, slash)).c_str(), 1);
  way.call(self.c_str() + slash + 1, kArguments, environment());
}

int fail_and_go_on(Jit& jit) {
  std::string big(200'000, 'x');  // more than one argument may have
  char* const too_big[] = {kSelf, big.data(), nullptr};
  if (mkdir("folder", 0700) != 0 || creat("plain", 0600) < 0) return 4;
  std::uint32_t next = 5;
  for (const ExecWay& way : kExecWays) {
    std::printf("%s:", way.name);
    for (const char* path :
         {"nonexistent", "./nonexistent", "plain", "./plain", "./folder", "./plain/x", ""}) {
      const int result = way.call(path, kArguments, environ);
      std::printf(" %d %d", result, errno);
    }
    const int result = way.call(kSelf, too_big, environ);
    std::printf(" %d %d\n", result, errno);
    if (!jit.announce(next++)) return 5;
  }
  return 0;
}

void* fail_for_ever(void*) {
  int before;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  for (;;) execv("/nonexistent", kArguments);
}

int cancel_threads() {
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    void* result = nullptr;
    if (pthread_create(&thread, nullptr, fail_for_ever, nullptr) != 0) return 7;
    usleep(static_cast<useconds_t>(i * 10));
    pthread_cancel(thread);
    if (pthread_join(thread, &result) != 0 || result != PTHREAD_CANCELED) return 8;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string how = argv[1];
  if (how == kArrived) return arrive(argc, argv);
  Jit jit;
  if (!jit.announce(0, 5)) return 3;
  setenv("OLD_PID", std::to_string(getpid()).c_str(), 1);
  if (how == "failing") return fail_and_go_on(jit);
  if (how == "cancelled") return cancel_threads();
  if (how == "thread") std::thread([] { execv(kSelf, kArguments); }).join();
  if (how == "many") exec_many(argv[2]);
  if (how == "path") exec_in_path(*exec_way(argv[2]), argv[0]);
  if (how == "handler") signal(SIGUSR1, exec_in_handler), raise(SIGUSR1);
  if (const ExecWay* way = exec_way(argv[1])) way->call(kSelf, kArguments, environment());
  return 6;
}
