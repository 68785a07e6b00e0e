/* Traced calls in every kind of child. Argument: which; and `inner` for what is exec'ed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/host/native/traced.h"

CALL double call_leaf(double x) {
  KEEP_FRAME;
  return x * 2;
}
CALL double call_twice(double x) {
  const double inside = call_leaf(x) + call_leaf(x);
  KEEP_FRAME;
  return inside;
}
CALL int call_in_child(int times) {
  int wrong = 0;
  for (int i = 0; i < times; ++i) wrong += call_twice(2.5) != 10;
  KEEP_FRAME;
  return wrong;
}

UNTRACED static int waited(pid_t child) {
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 50;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 51;
}

/* Its frames are taken in the parent, and return in both. */
CALL int call_forker(int depth) {
  int result;
  if (depth != 0) {
    result = call_forker(depth - 1);
  } else {
    const pid_t child = fork();
    result = child == 0 ? 1000 : waited(child);
  }
  KEEP_FRAME;
  return result;
}
UNTRACED static int forks(void) {
  const int result = call_forker(10);
  if (result == 1000) exit(call_in_child(5));
  return result;
}
UNTRACED static void* fork_in_thread(void* result) {
  *(int*)result = forks();
  return NULL;
}
UNTRACED static int in_thread(void) {
  int result = 52;
  pthread_t thread;
  if (pthread_create(&thread, NULL, fork_in_thread, &result) != 0) return 53;
  pthread_join(thread, NULL);
  return result;
}

CALL void call_vfork_child(const char* program) {
  KEEP_FRAME;
  if (call_in_child(1) == 0) execl(program, program, "inner", (char*)NULL);
  _exit(54);
}
CALL int call_vforker(const char* program) {
  const pid_t child = vfork();
  if (child == 0) call_vfork_child(program);
  return waited(child);
}
CALL int call_spawner(const char* program) {
  char inner[] = "inner";
  char* words[] = {inner, inner, NULL};
  pid_t child = -1;
  if (posix_spawn(&child, program, NULL, NULL, words, environ) != 0) return 55;
  return waited(child);
}
CALL int call_system(const char* program) {
  char command[4096];
  snprintf(command, sizeof command, "'%s' inner", program);
  return system(command);
}
CALL int call_exec(const char* program) {
  return execl(program, program, "inner", (char*)NULL);
}

/* Its parent goes at once, all descriptors are closed, and the program's own files take their numbers. */
UNTRACED static int daemon_closing_all(void) {
  const pid_t waiter = fork();
  if (waiter != 0) return waited(waiter);
  char done[] = "daemon-is-done";
  if (daemon(1, 0) != 0 || call_in_child(1) != 0) _exit(56);
  for (int file = 0; file < 1024; ++file) close(file);
  for (int file = 0; file < 16; ++file) (void)open("own", O_RDWR | O_CREAT, 0600);
  if (call_in_child(4) != 0) _exit(57);
  mkdir(done, 0700);
  exit(0);
}

UNTRACED int main(int count, char** words) {
  if (count != 2) return 60;
  const char* const which = words[1];
  if (strcmp(which, "inner") == 0) return call_in_child(3);
  if (call_in_child(2) != 0) return 61;
  if (strcmp(which, "fork") == 0) return forks();
  if (strcmp(which, "thread") == 0) return in_thread();
  if (strcmp(which, "vfork") == 0) return call_vforker(words[0]);
  if (strcmp(which, "spawn") == 0) return call_spawner(words[0]);
  if (strcmp(which, "system") == 0) return call_system(words[0]);
  if (strcmp(which, "exec") == 0) return call_exec(words[0]);
  if (strcmp(which, "daemon") == 0) return daemon_closing_all();
  return 62;
}
