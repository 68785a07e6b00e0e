// Computes with known shares: seventy() 70 %, twenty() 20 % and ten() 10 % of all turns of one loop. Says at
// its end how many ns its CPUs worked for it.
//
//   sampling_host WAY ROUNDS [THREADS]
//
// Ways: alone; threads (so many at once); ends (one after the other); fork (parent and child); killed (until
// somebody does); reload (a file, then another where it was); and those where sampling begins by
// LATE_OPTIONS: crowd (THREADS that are there already), few (the same, with descriptors for few of them),
// forbidden (perf events are), again (stopped in between).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jitquill/jitquill.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t g_sink;

// A chain of dependent steps: as many take the same time wherever they are.
#define TURN "imul $31, %0, %0\n\tadd $7, %0\n\t"
static inline __attribute__((always_inline)) uint64_t turns(uint64_t value, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) __asm__ volatile(TURN TURN TURN TURN : "+r"(value));
  return value;
}

enum { kTurnsPerShare = 3000 };  // a round takes several times what lies between two samples

__attribute__((noinline)) void seventy(void) {
  g_sink = turns(g_sink, 70 * kTurnsPerShare);
}
__attribute__((noinline)) void twenty(void) {
  g_sink = turns(g_sink, 20 * kTurnsPerShare);
}
__attribute__((noinline)) void ten(void) {
  g_sink = turns(g_sink, 10 * kTurnsPerShare);
}

__attribute__((noinline)) void compute(unsigned long rounds) {
  for (unsigned long i = 0; i < rounds; ++i) {
    seventy();
    twenty();
    ten();
  }
}

static unsigned long g_rounds;
static pthread_barrier_t g_begin;

static void* thread_body(void* waits) {
  if (waits != NULL) pthread_barrier_wait(&g_begin);
  compute(g_rounds);
  return NULL;
}

static void start_late(void) {
  const jitquill_start_options options = {sizeof options, getenv("LATE_OPTIONS")};
  const jitquill_status started = jitquill_start(&options);
  if (started != JITQUILL_OK) fprintf(stderr, "start: %s\n", jitquill_status_text(started));
  usleep(100 * 1000);  // for the thread that samples
}

static void run_threads(unsigned long count, int waits) {
  pthread_t* const threads = calloc(count, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_barrier_init(&g_begin, NULL, (unsigned)count + 1);
  for (unsigned long i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], &attributes, thread_body, waits ? &g_begin : NULL) != 0) exit(3);
  }
  if (waits) {
    start_late();
    pthread_barrier_wait(&g_begin);
  }
  for (unsigned long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  free(threads);
}

// As a user has it who is nobody in particular: whoever is root is so no more.
static void be_ordinary(unsigned long descriptors) {
  const struct rlimit files = {descriptors, descriptors}, locked = {8 << 20, 8 << 20};
  enum { kNobody = 65534 };
  if (setrlimit(RLIMIT_NOFILE, &files) != 0 || setrlimit(RLIMIT_MEMLOCK, &locked) != 0) exit(4);
  if (geteuid() == 0 &&
      (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0))
    exit(5);
}

static void forbid_perf_events(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    exit(6);
}

static int run_fork(void) {
  const pid_t child = fork();
  compute(g_rounds);
  if (child == 0) return 0;
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 7;
}

static int run_loaded(const char* path, const char* name) {
  enum { kTurns = 1000000 };
  void* const file = dlopen(path, RTLD_NOW);
  void* const function = file != NULL ? dlsym(file, name) : NULL;
  if (function == NULL) return 9;
  void (*turn)(unsigned long);
  memcpy(&turn, &function, sizeof turn);
  for (unsigned long i = 0; i < g_rounds; ++i) turn(kTurns);
  return dlclose(file);
}

static int run(const char* way, unsigned long threads) {
  enum { kUsual = 1024, kFew = 48 };
  const int is_few = strcmp(way, "few") == 0;
  if (strcmp(way, "alone") == 0) return compute(g_rounds), 0;
  if (strcmp(way, "threads") == 0) return run_threads(threads, 0), 0;
  if (strcmp(way, "fork") == 0) return run_fork();
  if (strcmp(way, "reload") == 0) return run_loaded(EARLIER, "earlier") + run_loaded(LATER, "later");
  if (strcmp(way, "killed") == 0)
    for (;;) compute(g_rounds);
  if (strcmp(way, "ends") == 0) {
    for (unsigned long i = 0; i < threads; ++i) run_threads(1, 0);
    return 0;
  }
  if (is_few || strcmp(way, "crowd") == 0) {
    be_ordinary(is_few ? kFew : kUsual);
    return run_threads(threads, 1), 0;
  }
  if (strcmp(way, "forbidden") == 0) forbid_perf_events();
  start_late();
  compute(g_rounds);
  if (strcmp(way, "again") != 0) return 0;
  if (jitquill_stop() != JITQUILL_OK) return 8;
  start_late();
  return compute(g_rounds), 0;
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  g_rounds = strtoul(arguments[2], NULL, 10);
  const int result = run(arguments[1], count > 3 ? strtoul(arguments[3], NULL, 10) : 1);
  struct timespec worked;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &worked);
  printf("worked %lld ns\n", worked.tv_sec * 1000000000LL + worked.tv_nsec);
  return result;
}
