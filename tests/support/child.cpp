#include "tests/support/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace test_support {
namespace {

void redirect(const std::string& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
}

[[noreturn]] void become(const Command& command, const std::string& out, const std::string& err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies takes its host with it
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

std::string Ended::describe() const {
  std::string text = timed_out        ? "killed after its time was up"
                     : exit_code >= 0 ? "exit code " + std::to_string(exit_code)
                                      : "ended by signal " + std::to_string(signal);
  return text + "\nstdout: " + out + "\nstderr: " + err;
}

Child::Child(const Command& command) {
  pid_ = fork();
  if (pid_ == 0) become(command, outputs_.file("out"), outputs_.file("err"));
}

Child::~Child() {
  if (reaped_ || pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) const {
  if (!reaped_ && pid_ > 0) kill(pid_, number);
}

Ended Child::wait(int seconds) {
  Ended ended;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ended.timed_out = true;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  reaped_ = true;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = read_text(outputs_.file("out"));
  ended.err = read_text(outputs_.file("err"));
  return ended;
}

Ended run(const Command& command, int seconds) {
  return Child(command).wait(seconds);
}

}  // namespace test_support
