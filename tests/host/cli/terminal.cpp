#include "tests/host/cli/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cstdlib>

namespace cli_test {
namespace {

constexpr int kMostMs = 20'000;

}  // namespace

Terminal::Terminal(const std::vector<std::string>& words, const std::string& folder) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_ = forkpty(&master_, nullptr, nullptr, nullptr);
  if (pid_ != 0) return;
  termios mode{};
  tcgetattr(STDIN_FILENO, &mode);
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  setenv("TMPDIR", folder.c_str(), 1);  // a command that is killed leaves its list there
  if (chdir(folder.c_str()) == 0) execvp(pointers[0], pointers.data());
  _exit(127);
}

// Closing the terminal hangs up on all that is in it; who ignores that is killed by its process group.
Terminal::~Terminal() {
  const pid_t foreground = tcgetpgrp(master_);
  if (foreground > 1) kill(-foreground, SIGKILL);
  close(master_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Terminal::type(const std::string& keys) const {
  if (write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) perror("terminal");
}

bool Terminal::read_more() {
  pollfd look{master_, POLLIN, 0};
  if (poll(&look, 1, kMostMs) != 1) return false;
  char piece[4096];
  const ssize_t size = read(master_, piece, sizeof piece);
  if (size <= 0) return false;
  shown_.append(piece, static_cast<std::size_t>(size));
  return true;
}

bool Terminal::sees(const std::string& text) {
  for (;;) {
    const std::size_t at = shown_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_more()) return false;
  }
}

std::string Terminal::rest_of_line() {
  const std::size_t from = seen_;
  return sees("\n") ? shown_.substr(from, seen_ - from - 1) : std::string();
}

}  // namespace cli_test
