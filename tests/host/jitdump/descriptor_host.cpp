// Takes the agent's descriptors away and gives their numbers to a file of its own, as daemons do that close
// all they find. Arguments: what happens then: announce, stop, fork.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr char kText[] = "the host's";

bool is_agents(int number) {
  char target[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(number);
  return readlink(link.c_str(), target, sizeof target - 1) > 0 && std::strstr(target, "/out/") != nullptr;
}

// Every descriptor of the agent becomes one of `file`. How many there were.
int take_numbers(int file) {
  int taken = 0;
  for (int number = 3; number < 1024; ++number) {
    if (is_agents(number) && dup2(file, number) == number) ++taken;
  }
  return taken;
}

bool is_untouched(int file) {
  struct stat status = {};
  char text[sizeof kText] = {};
  return fstat(file, &status) == 0 && status.st_size == static_cast<off_t>(sizeof kText - 1) &&
         pread(file, text, sizeof text, 0) == status.st_size && std::strcmp(text, kText) == 0;
}

int count_of(int file) {
  struct stat wanted = {};
  fstat(file, &wanted);
  int count = 0;
  for (int number = 3; number < 1024; ++number) {
    struct stat status = {};
    if (fstat(number, &status) == 0 && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev)
      ++count;
  }
  return count;
}

// Both the dump and the log lose their number.
bool announce_in_vain(CodeMemory& memory) {
  bool refused = true;
  for (std::uint32_t i = 1; i <= 3; ++i)
    refused = pattern::Announcement(i, memory.at(i)).announce() == JITQUILL_WRITE_FAILED && refused;
  return refused;
}

bool act(const std::string& what, CodeMemory& memory) {
  if (what == "stop") return jitquill_stop() == JITQUILL_OK;
  return what == "announce" && announce_in_vain(memory);
}

// The child takes the numbers, and then has outputs of its own.
bool child_announces(CodeMemory& memory, int file) {
  const pid_t child = fork();
  if (child == 0) {
    const int taken = take_numbers(file);
    const bool announced = pattern::Announcement(1, memory.at(1)).announce() == JITQUILL_OK;
    std::exit(announced && is_untouched(file) && count_of(file) == taken + 1 ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CodeMemory memory(8);
  jitquill_line bad = {100'000, 1, 0, 0, nullptr};
  pattern::Announcement first(0, memory.at(0));
  first.code().lines = &bad;
  first.code().line_count = 1;
  if (first.announce() != JITQUILL_LINES_LEFT_OUT) return 3;  // which the log tells
  const int file = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (write(file, kText, sizeof kText - 1) != static_cast<ssize_t>(sizeof kText - 1)) return 4;
  const std::string what = argv[1];
  if (what == "fork") return child_announces(memory, file) ? 0 : 5;
  const int taken = take_numbers(file);
  if (taken != 2) return 6;
  if (!act(what, memory)) return 7;
  if (!is_untouched(file)) return 8;
  return count_of(file) == taken + 1 ? 0 : 9;
}
