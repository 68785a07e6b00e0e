// signal_host [stops]: says each signal that it gets ("got INT") until a line comes from stdin, then how many
// of each. With `stops` SIGTSTP has its usual effect.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kCounted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
volatile sig_atomic_t g_counts[65];

// The whole line, in one write: nobody must see half of it.
void say(const char* line) {
  const std::size_t size = std::strlen(line);
  if (write(STDOUT_FILENO, line, size) != static_cast<ssize_t>(size)) _exit(3);
}

void on_signal(int signal) {
  const int error = errno;
  g_counts[signal] = g_counts[signal] + 1;
  char line[32] = "got ";
  std::strcat(std::strcat(line, sigabbrev_np(signal)), "\n");
  say(line);
  errno = error;
}

}  // namespace

int main(int argc, char** argv) {
  const bool stops = argc > 1 && std::strcmp(argv[1], "stops") == 0;
  for (const int signal : kCounted) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);
    if (signal != SIGTSTP || !stops) sigaction(signal, &action, nullptr);
  }
  say("ready\n");
  char byte = 0;
  ssize_t size = 0;
  do {
    size = read(STDIN_FILENO, &byte, 1);
  } while ((size < 0 && errno == EINTR) || (size == 1 && byte != '\n'));
  char line[512] = "counts";
  for (const int signal : kCounted) {
    const std::size_t used = std::strlen(line);
    std::snprintf(line + used, sizeof line - used, " %s=%d", sigabbrev_np(signal),
                  static_cast<int>(g_counts[signal]));
  }
  std::strcat(line, "\n");
  say(line);
}
