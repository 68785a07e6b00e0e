/* Children made in the middle of traced functions, in any way, by the first thread and by others: each does
 * traced calls of its own that return right, and the parent goes on. What children call is not counted here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/host/native/subjects/subject.h"

extern char** environ;

static const char* g_self;
enum { kGood = 7 };

CALL int call_down(int depth) {
  COUNT(call_down);
  const int inside = depth == 0 ? 0 : call_down(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED static int ended(pid_t child) {
  int status = 0;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

CALL int call_in_child(int depth) {
  const int inside = depth == 0 ? 0 : call_in_child(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

/* Returns twice, 10 traced functions deep. */
CALL pid_t call_fork(int depth) {
  COUNT(call_fork);
  const pid_t child = depth == 0 ? fork() : call_fork(depth - 1);
  KEEP_FRAME;
  return child;
}
CALL pid_t call_raw_fork(int depth) {
  COUNT(call_raw_fork);
  const pid_t child = depth == 0 ? (pid_t)syscall(SYS_fork) : call_raw_fork(depth - 1);
  KEEP_FRAME;
  return child;
}
CALL int call_vfork(void) {
  COUNT(call_vfork);
  char* const words[] = {(char*)g_self, "good", NULL};
  const pid_t child = vfork();
  if (child == 0) {
    execve(g_self, words, environ);
    _exit(1);
  }
  return ended(child);
}
CALL int call_vfork_without_exec(void) {
  COUNT(call_vfork_without_exec);
  const pid_t child = vfork();
  if (child == 0) _exit(kGood);
  return ended(child);
}
CALL int call_spawn(void) {
  COUNT(call_spawn);
  char* const words[] = {(char*)g_self, "good", NULL};
  pid_t child = 0;
  EXPECT(posix_spawn(&child, g_self, NULL, NULL, words, environ) == 0);
  return ended(child);
}
/* A daemon, which closes all that it has: its end comes through a pipe. */
CALL int call_daemon(void) {
  COUNT(call_daemon);
  int answer[2];
  EXPECT(pipe(answer) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (daemon(0, 0) != 0) _exit(1);
    for (int fd = 0; fd < 64; ++fd)
      if (fd != answer[1]) close(fd);
    const char byte = call_in_child(5) == 6 ? kGood : 1;
    _exit(write(answer[1], &byte, 1) == 1 ? 0 : 1);
  }
  close(answer[1]);
  EXPECT(ended(child) == 0);
  char byte = 0;
  EXPECT(read(answer[0], &byte, 1) == 1);
  close(answer[0]);
  return byte;
}

UNTRACED static void check_forked(pid_t child) {
  if (child == 0) _exit(call_in_child(20) == 21 ? kGood : 1);
  EXPECT(ended(child) == kGood);
}

UNTRACED static void* all(void* unused) {
  (void)unused;
  EXPECT(call_down(3) == 4);
  check_forked(call_fork(10));
  check_forked(call_raw_fork(10));
  EXPECT(call_vfork() == kGood && call_vfork_without_exec() == kGood && call_spawn() == kGood);
  EXPECT(call_daemon() == kGood);
  EXPECT(call_down(3) == 4);
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 'g') return call_in_child(3) == 4 ? kGood : 1;
  g_self = "/proc/self/exe";
  const unsigned rounds = scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    all(NULL);
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, all, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
  tell_counts();
  return 0;
}
