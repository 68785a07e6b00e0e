// Leaves before any constructor ran, ours of the preload included. Arguments: one of exec_ways.hpp, or _exit.
// What is started says that it arrived.
#include <cerrno>
#include <cstdio>

#include "tests/host/leave/exec_ways.hpp"

namespace {

char kSelf[] = "/proc/self/exe";
char kArrived[] = "arrived";

// No library is ready yet: only what needs nothing of them.
void leave_early(int argc, char** argv, char** envp) {
  char* const arguments[] = {kSelf, kArrived, nullptr};
  if (argc != 2 || std::strcmp(argv[1], kArrived) == 0) return;
  if (std::strcmp(argv[1], "_exit") == 0) _exit(7);
  const ExecWay* way = exec_way(argv[1]);
  if (way == nullptr) _exit(3);
  if (way->call("/nonexistent", arguments, envp) != -1) _exit(4);
  way->call(kSelf, arguments, envp);
  _exit(5);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kEarly)(int, char**, char**) = leave_early;

}  // namespace

int main(int argc, char** argv) {
  std::printf("%s\n", argc == 2 ? argv[1] : "");
  return 0;
}
