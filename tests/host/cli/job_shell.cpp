// job_shell COMMAND...: what an interactive shell does with a job. The command becomes a process group of its
// own in the terminal's foreground; when it stops, that is said, and it goes on after a line "fg".
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void to_foreground(pid_t group) {
  (void)tcsetpgrp(STDIN_FILENO, group);
}

void say(const char* what, int number) {
  std::printf("%s %d\n", what, number);
  std::fflush(stdout);
}

void wait_for_fg() {
  char line[64];
  if (std::fgets(line, sizeof line, stdin) == nullptr) std::exit(3);
}

}  // namespace

int main(int, char** argv) {
  signal(SIGTTOU, SIG_IGN);  // a shell sets the foreground from the background
  const pid_t job = fork();
  if (job == 0) {
    setpgid(0, 0);
    to_foreground(getpid());
    signal(SIGTTOU, SIG_DFL);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  setpgid(job, job);
  to_foreground(job);
  say("job", job);
  for (;;) {
    int status = 0;
    if (waitpid(job, &status, WUNTRACED) != job) return 3;
    if (!WIFSTOPPED(status)) {
      to_foreground(getpgrp());
      WIFEXITED(status) ? say("exit", WEXITSTATUS(status)) : say("signal", WTERMSIG(status));
      return 0;
    }
    to_foreground(getpgrp());
    say("stopped", WSTOPSIG(status));
    wait_for_fg();
    to_foreground(job);
    kill(-job, SIGCONT);
  }
}
