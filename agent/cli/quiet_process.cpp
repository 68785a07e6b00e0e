#include "agent/cli/quiet_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

std::string read_to_end(int from) {
  std::string all;
  char piece[4096];
  for (;;) {
    const ssize_t size = ::read(from, piece, sizeof piece);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return all;
    all.append(piece, static_cast<std::size_t>(size));
  }
}

}  // namespace

QuietEnd run_quietly(const std::vector<std::string>& words) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return {-1, error_text(errno)};
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  (void)::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  (void)::posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  (void)::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  QuietEnd end;
  end.said = error == 0 ? read_to_end(pipe[0]) : error_text(error) + "\n";
  ::close(pipe[0]);
  int status = 0;
  if (error == 0 && ::waitpid(process, &status, 0) == process && WIFEXITED(status))
    end.exit_code = WEXITSTATUS(status);
  return end;
}

}  // namespace jitquill::cli
