/* A runtime in C99 that tells everything it can, once, in the order in which a real one would: its start,
 * threads of the program on two threads of the system, a collection by both, a concurrent one, sparks, a heap
 * profile, its end. Argument: how many rounds. With "handler" as the second the marks come from a signal
 * handler. */
#define _GNU_SOURCE
#include <jitquill/events.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int g_failed = 0;
static uint64_t g_main, g_work;

static void check(jitquill_status status, jitquill_status expected) {
  if (status == expected) return;
  fprintf(stderr, "status %d, not %d\n", (int)status, (int)expected);
  g_failed = 1;
}
#define OK(call) check(call, JITQUILL_OK)

static uint64_t function(const char* name) {
  jitquill_function_info info = {sizeof info, 1, NULL, "/src/runtime.lang"};
  uint64_t id = 0;
  info.name = name;
  OK(jitquill_function(&info, &id));
  return id;
}

static void on_signal(int number) {
  OK(jitquill_marker(number == SIGUSR1 ? "in a handler" : "?"));
}

static void begin(void) {
  OK(jitquill_runtime_named("model runtime 1.0"));
  OK(jitquill_capability_created(0));
  OK(jitquill_capability_created(1));
  OK(jitquill_heap_info(2, 0, 1048576, 1048576, 4096));
  OK(jitquill_capability_taken(0));
  OK(jitquill_thread_created(1));
  OK(jitquill_thread_named(1, "main"));
  OK(jitquill_thread_running(1));
}

/* Its part of a collection that another thread leads. */
static void* take_part(void* unused) {
  OK(jitquill_capability_taken(1));
  OK(jitquill_thread_running(2));
  OK(jitquill_thread_stopped(2, JITQUILL_STOP_HEAP_FULL, 0));
  OK(jitquill_gc_begin(1));
  OK(jitquill_gc_phase(JITQUILL_GC_WORK));
  OK(jitquill_gc_phase(JITQUILL_GC_IDLE));
  OK(jitquill_gc_phase(JITQUILL_GC_DONE));
  OK(jitquill_gc_end());
  OK(jitquill_thread_running(2));
  OK(jitquill_thread_finished(2));
  OK(jitquill_capability_left(1));
  return unused;
}

static void collect(void) {
  OK(jitquill_thread_stopped(1, JITQUILL_STOP_HEAP_FULL, 0));
  OK(jitquill_gc_requested(JITQUILL_GC_PARALLEL));
  OK(jitquill_gc_begin(1));
  OK(jitquill_gc_synced());
  OK(jitquill_gc_phase(JITQUILL_GC_MARK));
  OK(jitquill_gc_phase(JITQUILL_GC_SWEEP));
  OK(jitquill_gc_phase(JITQUILL_GC_MOVE));
  OK(jitquill_gc_phase(JITQUILL_GC_DONE));
  OK(jitquill_heap_allocated(3000000));
  OK(jitquill_gc_statistics(1, 2, 70000, 100, 2000, 40000, 70000, 60000));
  OK(jitquill_heap_size(4194304));
  OK(jitquill_heap_blocks(1048576));
  OK(jitquill_heap_live(70000));
  OK(jitquill_heap_returned(4, 2, 1));
  OK(jitquill_gc_end());
  OK(jitquill_thread_running(1));
}

static void collect_beside(void) {
  OK(jitquill_concurrent_begin(JITQUILL_CONCURRENT_MARK));
  OK(jitquill_remembered_flushed());
  OK(jitquill_concurrent_end(JITQUILL_CONCURRENT_MARK, 500));
  OK(jitquill_concurrent_begin(JITQUILL_CONCURRENT_SYNC));
  OK(jitquill_concurrent_end(JITQUILL_CONCURRENT_SYNC, 0));
  OK(jitquill_concurrent_begin(JITQUILL_CONCURRENT_SWEEP));
  OK(jitquill_heap_census(64, 3, 2, 700));
  OK(jitquill_segments_pruned(4, 1));
  OK(jitquill_concurrent_end(JITQUILL_CONCURRENT_SWEEP, 0));
}

static void spark(void) {
  OK(jitquill_spark(JITQUILL_SPARK_CREATED));
  OK(jitquill_spark(JITQUILL_SPARK_DUD));
  OK(jitquill_spark(JITQUILL_SPARK_OVERFLOWED));
  OK(jitquill_spark_thread_created(3));
  OK(jitquill_spark(JITQUILL_SPARK_RUN));
  OK(jitquill_spark_stolen(1));
  OK(jitquill_spark(JITQUILL_SPARK_FIZZLED));
  OK(jitquill_spark(JITQUILL_SPARK_COLLECTED));
  OK(jitquill_spark_counters(4, 1, 1, 2, 1, 1, 0));
}

static void talk(int in_handler) {
  OK(jitquill_counter_named(1, "queue length"));
  OK(jitquill_counter(1, -5));
  if (in_handler) {
    raise(SIGUSR1);
  } else {
    OK(jitquill_marker("half way"));
  }
  OK(jitquill_message("hello \xE2\x82\xAC"));
  OK(jitquill_runtime_message("two\nlines"));
  OK(jitquill_binary_message("\0\1\2", 3));
}

static void profile(void) {
  OK(jitquill_allocation_site(1, "cons (list.lang:7)"));
  OK(jitquill_allocated(1, 100, 2400));
  OK(jitquill_heap_profile_begin(JITQUILL_BANDS_OF_SITE, 100000000));
  OK(jitquill_heap_sample_begin(0));
  OK(jitquill_heap_sample_site(1, 2400));
  OK(jitquill_heap_sample_band(64, "strings"));
  OK(jitquill_heap_sample_end(0));
}

static void end(void) {
  OK(jitquill_thread_runnable(3));
  OK(jitquill_thread_migrated(3, 1));
  OK(jitquill_thread_woken(3, 1));
  OK(jitquill_thread_stopped(1, JITQUILL_STOP_LAZY_VALUE, 3));
  OK(jitquill_capability_disabled(1));
  OK(jitquill_capability_enabled(1));
  OK(jitquill_thread_running(1));
  OK(jitquill_thread_finished(1));
  OK(jitquill_capability_left(0));
  OK(jitquill_capability_deleted(1));
  OK(jitquill_capability_deleted(0));
}

static void do_round(int in_handler) {
  pthread_t other;
  begin();
  OK(jitquill_enter(g_main, 1));
  OK(jitquill_thread_created(2));
  OK(jitquill_enter(g_work, 2));
  if (pthread_create(&other, NULL, take_part, NULL) != 0) exit(3);
  collect();
  if (pthread_join(other, NULL) != 0) exit(3);
  OK(jitquill_leave(g_work, 2));
  collect_beside();
  spark();
  talk(in_handler);
  profile();
  OK(jitquill_leave(g_main, 1));
  end();
}

/* Three bytes a character: 4096 is not where one ends. */
static void post_limits(void) {
  static char text[6001];
  size_t i;
  for (i = 0; i < 2000; ++i) memcpy(text + 3 * i, "\xE2\x82\xAC", 3);
  check(jitquill_message(text), JITQUILL_TEXT_CUT);
  check(jitquill_thread_named(1, text), JITQUILL_TEXT_CUT);
  text[4095] = '\0';
  OK(jitquill_message(text));
  OK(jitquill_message(NULL));
  OK(jitquill_post_text(JITQUILL_EVENT_MESSAGE, NULL, 0, text, 6));
  text[3] = '\0';
  OK(jitquill_post_text(JITQUILL_EVENT_MESSAGE, NULL, 0, text, 6));
  text[3] = '\xE2';
  OK(jitquill_binary_message(text, JITQUILL_POST_MOST));
  check(jitquill_binary_message(text, JITQUILL_POST_MOST + 1), JITQUILL_TOO_LARGE);
  check(jitquill_binary_message(NULL, 1), JITQUILL_BAD_ARGUMENT);
  OK(jitquill_post(JITQUILL_OWN_EVENTS, text, 5));
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 0;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  if (argc < 2 || sigaction(SIGUSR1, &action, NULL) != 0) return 2;
  if (!jitquill_wants_events()) {
    check(jitquill_marker("nobody reads"), JITQUILL_OFF);
    check(jitquill_gc_end(), JITQUILL_OFF);
    check(jitquill_post(JITQUILL_OWN_EVENTS, "own", 3), JITQUILL_OFF);
    check(jitquill_post_text(JITQUILL_OWN_EVENTS, NULL, 0, "own", 3), JITQUILL_OFF);
    printf("not wanted\n");
    return g_failed;
  }
  g_main = function("main");
  g_work = function("work");
  for (; rounds > 0; --rounds) do_round(argc > 2);
  post_limits();
  return g_failed;
}
