/* Jitquill for language runtimes: tell the agent what the runtime does beside making code. Its threads, its
 * collector and heap, sparks, marks and messages, counters: each function below is one event, and stands at
 * its time in the outputs that show such things (docs/runtime-events.md).
 *
 * Reached as jitquill.h, which it includes: copy both. Without an agent, and where no output shows events,
 * each function costs one or two loads, a compare and a jump: call them in the runtime as it ships. Where one
 * does, 10 to 25 ns, and 16 bytes or more of the memory in which events wait to be written (option memory=).
 *
 *     jitquill_thread_created(1);                // ids are yours: from 1, never used again
 *     jitquill_thread_named(1, "main");
 *     jitquill_thread_running(1);                // from now on, on the calling thread of the system
 *     jitquill_gc_begin(0);
 *     jitquill_gc_end();
 *     jitquill_thread_stopped(1, JITQUILL_STOP_SLEEP, 0);
 *
 * Threads. An event belongs to the thread of the system that calls, and its time is that of the call. Threads
 * of the program are told apart by their ids, wherever they run: where each has a thread of the system to
 * itself, say created, running and finished all the same.
 *
 * Contexts: any thread, any time, in signal handlers, under locks, on stacks of fibers. None allocates, takes
 * a lock, changes errno or is a cancellation point; with policy=lossless one may wait for room, as traced
 * calls do. The first event of a process may open its outputs, as the first code does. (The first call of a
 * source file is dlsym's, as in jitquill.h: jitquill_wants_events() once at start.)
 *
 * Statuses, which may be ignored: JITQUILL_OK; JITQUILL_OFF, no output shows events, or no agent;
 * JITQUILL_TEXT_CUT; JITQUILL_TOO_LARGE, of bytes; JITQUILL_NO_MEMORY, no room: the outputs say where.
 *
 * Growth. An event's number and fields never change; an agent that is older than an event shows its number.
 */
#ifndef JITQUILL_EVENTS_H
#define JITQUILL_EVENTS_H

#include "jitquill.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An event of the runtime's own, from JITQUILL_OWN_EVENTS to 0xFEFF, with `size` bytes of payload, at most
 * JITQUILL_POST_MOST. JITQUILL_BAD_ARGUMENT: not such a number, or no payload where there is a size. */
#define JITQUILL_OWN_EVENTS 1024
#define JITQUILL_POST_MOST 4096
JITQUILL_FUNCTION jitquill_status jitquill_post(uint32_t event, const void* payload, size_t size);

/* The same with a text behind `size` bytes: up to its NUL or `most` bytes, cut between two characters where
 * there is no room for all of it. NULL = "". Also for texts of the events below that end without a NUL. */
JITQUILL_FUNCTION jitquill_status jitquill_post_text(uint32_t event, const void* fields, size_t size,
                                                     const char* text, size_t most);

/* A word that is not 0 while an output shows events; it stays where it is for the life of the process. NULL
 * without an agent. */
JITQUILL_FUNCTION const uint32_t* jitquill_wanted_events(void);

/* Points to that word; at first to one that says "not known". One for each source file. */
static inline const uint32_t** jitquill_wanted_place(void) {
  static const uint32_t not_known = 2;
  static const uint32_t* place = &not_known;
  return &place;
}

static inline int jitquill_look_up_wanted(void) {
  const uint32_t* const word = jitquill_wanted_events();
  __atomic_store_n(jitquill_wanted_place(), word, __ATOMIC_RELEASE);
  return word != NULL && __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

/* 1 if an output shows events now: worth asking before something is computed for one. */
static inline int jitquill_wants_events(void) {
  const uint32_t* const word = __atomic_load_n(jitquill_wanted_place(), __ATOMIC_ACQUIRE);
  uint32_t wanted;
  if (word == NULL) return 0;
  wanted = __atomic_load_n(word, __ATOMIC_RELAXED);
  if (__builtin_expect(wanted == 0, 1)) return 0;
  return wanted == 1 || jitquill_look_up_wanted();
}

/* ---- The events ---------------------------------------------------------------------------------------
 * Each is its fields as they stand here, without padding, and its text behind them. Units are in brackets.
 * The macros take (event, text, members, values...). */
#define JITQUILL_TELL(event, members, ...)                                  \
  if (!jitquill_wants_events()) return JITQUILL_OFF;                        \
  const struct __attribute__((packed)) { members; } fields = {__VA_ARGS__}; \
  return jitquill_post(JITQUILL_EVENT_##event, &fields, sizeof fields)
#define JITQUILL_TELL_TEXT(event, text, members, ...)                       \
  if (!jitquill_wants_events()) return JITQUILL_OFF;                        \
  const struct __attribute__((packed)) { members; } fields = {__VA_ARGS__}; \
  return jitquill_post_text(JITQUILL_EVENT_##event, &fields, sizeof fields, text, (size_t)-1)
#define JITQUILL_TELL_BYTES(event, bytes, size) \
  return jitquill_wants_events() ? jitquill_post(JITQUILL_EVENT_##event, bytes, size) : JITQUILL_OFF
#define JITQUILL_TELL_ONLY(event, text)                                                                  \
  return jitquill_wants_events() ? jitquill_post_text(JITQUILL_EVENT_##event, NULL, 0, text, (size_t)-1) \
                                 : JITQUILL_OFF

/* ---- Made from writer/model/runtime_event.def: change that, then tests/law/events.sh --write ---- */
/* clang-format off */
typedef enum jitquill_event {
  JITQUILL_EVENT_THREAD_CREATED = 1, JITQUILL_EVENT_THREAD_RUNNABLE = 2, JITQUILL_EVENT_THREAD_RUNNING = 3,
  JITQUILL_EVENT_THREAD_STOPPED = 4, JITQUILL_EVENT_THREAD_FINISHED = 5, JITQUILL_EVENT_THREAD_MIGRATED = 6,
  JITQUILL_EVENT_THREAD_WOKEN = 7, JITQUILL_EVENT_THREAD_NAMED = 8, JITQUILL_EVENT_SPARK_THREAD_CREATED = 9,
  JITQUILL_EVENT_CAPABILITY_CREATED = 20, JITQUILL_EVENT_CAPABILITY_DELETED = 21,
  JITQUILL_EVENT_CAPABILITY_DISABLED = 22, JITQUILL_EVENT_CAPABILITY_ENABLED = 23,
  JITQUILL_EVENT_CAPABILITY_TAKEN = 24, JITQUILL_EVENT_CAPABILITY_LEFT = 25, JITQUILL_EVENT_GC_REQUESTED = 40,
  JITQUILL_EVENT_GC_BEGIN = 41, JITQUILL_EVENT_GC_SYNCED = 42, JITQUILL_EVENT_GC_PHASE = 43,
  JITQUILL_EVENT_GC_STATISTICS = 44, JITQUILL_EVENT_GC_END = 45, JITQUILL_EVENT_CONCURRENT_BEGIN = 46,
  JITQUILL_EVENT_CONCURRENT_END = 47, JITQUILL_EVENT_REMEMBERED_FLUSHED = 48, JITQUILL_EVENT_HEAP_CENSUS = 49,
  JITQUILL_EVENT_SEGMENTS_PRUNED = 50, JITQUILL_EVENT_HEAP_INFO = 60, JITQUILL_EVENT_HEAP_ALLOCATED = 61,
  JITQUILL_EVENT_HEAP_SIZE = 62, JITQUILL_EVENT_HEAP_BLOCKS = 63, JITQUILL_EVENT_HEAP_LIVE = 64,
  JITQUILL_EVENT_HEAP_RETURNED = 65, JITQUILL_EVENT_SPARK = 80, JITQUILL_EVENT_SPARK_STOLEN = 81,
  JITQUILL_EVENT_SPARK_COUNTERS = 82, JITQUILL_EVENT_RUNTIME_NAMED = 100, JITQUILL_EVENT_MARKER = 101,
  JITQUILL_EVENT_MESSAGE = 102, JITQUILL_EVENT_RUNTIME_MESSAGE = 103, JITQUILL_EVENT_BINARY_MESSAGE = 104,
  JITQUILL_EVENT_COUNTER_NAMED = 120, JITQUILL_EVENT_COUNTER = 121, JITQUILL_EVENT_ALLOCATION_SITE = 140,
  JITQUILL_EVENT_ALLOCATED = 141, JITQUILL_EVENT_HEAP_PROFILE_BEGIN = 142,
  JITQUILL_EVENT_HEAP_SAMPLE_BEGIN = 143, JITQUILL_EVENT_HEAP_SAMPLE_BAND = 144,
  JITQUILL_EVENT_HEAP_SAMPLE_SITE = 145, JITQUILL_EVENT_HEAP_SAMPLE_END = 146
} jitquill_event;
typedef enum jitquill_stop_reason { /* why a thread stops */
  JITQUILL_STOP_YIELDED = 1, /* yielded (its time is over, or others are to run) */
  JITQUILL_STOP_HEAP_FULL = 2, /* heap is full (a collection is due) */
  JITQUILL_STOP_STACK_FULL = 3, /* stack is full (it has to grow) */
  JITQUILL_STOP_FOREIGN_CALL = 4, /* calls foreign code */
  JITQUILL_STOP_LOCK = 5, /* waits for a lock (or to fill a variable that is full) */
  JITQUILL_STOP_READ = 6, /* waits for a message (or for a variable to be filled) */
  JITQUILL_STOP_LAZY_VALUE = 7, /* waits for a value (that thread `info` computes) */
  JITQUILL_STOP_INPUT = 8, /* waits for input */
  JITQUILL_STOP_OUTPUT = 9, /* waits for output */
  JITQUILL_STOP_SLEEP = 10, /* sleeps */
  JITQUILL_STOP_TRANSACTION = 11, /* waits for a transaction (until memory that it read changes) */
  JITQUILL_STOP_PROCESS = 12, /* waits for work elsewhere (of another process, or of foreign code) */
  JITQUILL_STOP_THROW = 13, /* waits for a throw (until another thread took its exception) */
  JITQUILL_STOP_MIGRATION = 14 /* is to go on elsewhere */
} jitquill_stop_reason;
typedef enum jitquill_gc_kind { /* how a collection is done */
  JITQUILL_GC_SEQUENTIAL = 1, /* by one thread */
  JITQUILL_GC_PARALLEL = 2 /* by several threads */
} jitquill_gc_kind;
typedef enum jitquill_gc_phase_kind { /* what a thread does in a collection */
  JITQUILL_GC_WORK = 1, /* works (marks or copies) */
  JITQUILL_GC_MARK = 2, /* marks */
  JITQUILL_GC_SWEEP = 3, /* sweeps */
  JITQUILL_GC_MOVE = 4, /* moves objects */
  JITQUILL_GC_IDLE = 5, /* has nothing to do (others still have) */
  JITQUILL_GC_DONE = 6 /* is done with its part */
} jitquill_gc_phase_kind;
typedef enum jitquill_concurrent_phase { /* what a concurrent collector does */
  JITQUILL_CONCURRENT_MARK = 1, /* marks */
  JITQUILL_CONCURRENT_SYNC = 2, /* all threads stand still for the last of it */
  JITQUILL_CONCURRENT_SWEEP = 3 /* sweeps */
} jitquill_concurrent_phase;
typedef enum jitquill_spark_kind { /* what happened to a spark */
  JITQUILL_SPARK_CREATED = 1, /* created */
  JITQUILL_SPARK_DUD = 2, /* dud (not created: its value is known) */
  JITQUILL_SPARK_OVERFLOWED = 3, /* overflowed (dropped: no room for it) */
  JITQUILL_SPARK_RUN = 4, /* run (where it was created) */
  JITQUILL_SPARK_FIZZLED = 5, /* fizzled (not run: its value was computed meanwhile) */
  JITQUILL_SPARK_COLLECTED = 6 /* collected (dropped: nobody wants its value) */
} jitquill_spark_kind;
typedef enum jitquill_band_kind { /* what a band of a heap sample is */
  JITQUILL_BANDS_OF_SITE = 1, /* allocation site */
  JITQUILL_BANDS_OF_MODULE = 2, /* module */
  JITQUILL_BANDS_OF_OBJECT = 3, /* constructor or kind of closure */
  JITQUILL_BANDS_OF_TYPE = 4, /* type */
  JITQUILL_BANDS_OF_RETAINER = 5, /* what keeps it alive */
  JITQUILL_BANDS_OF_LIFE = 6, /* part of its life */
  JITQUILL_BANDS_OF_ERA = 7 /* when it was allocated */
} jitquill_band_kind;

/* A thread of the program was made. Before anything else of it, by its creator. thread: its id, from 1, never
 * used again. */
static inline jitquill_status jitquill_thread_created(uint64_t thread) {
  JITQUILL_TELL(THREAD_CREATED, uint64_t thread, thread);
}
/* It may run, and waits for its turn. */
static inline jitquill_status jitquill_thread_runnable(uint64_t thread) {
  JITQUILL_TELL(THREAD_RUNNABLE, uint64_t thread, thread);
}
/* The calling thread of the system runs it from now on. */
static inline jitquill_status jitquill_thread_running(uint64_t thread) {
  JITQUILL_TELL(THREAD_RUNNING, uint64_t thread, thread);
}
/* The calling thread of the system ran it until now. info: as the reason says, else 0. */
static inline jitquill_status jitquill_thread_stopped(uint64_t thread, jitquill_stop_reason reason,
    uint64_t info) {
  JITQUILL_TELL(THREAD_STOPPED, uint64_t thread; uint8_t reason; uint64_t info, thread, (uint8_t)reason,
      info);
}
/* As thread_stopped(), for good. */
static inline jitquill_status jitquill_thread_finished(uint64_t thread) {
  JITQUILL_TELL(THREAD_FINISHED, uint64_t thread, thread);
}
/* It will run on another capability. capability: where to. */
static inline jitquill_status jitquill_thread_migrated(uint64_t thread, uint16_t capability) {
  JITQUILL_TELL(THREAD_MIGRATED, uint64_t thread; uint16_t capability, thread, capability);
}
/* What it waited for has come. capability: on which it will run. */
static inline jitquill_status jitquill_thread_woken(uint64_t thread, uint16_t capability) {
  JITQUILL_TELL(THREAD_WOKEN, uint64_t thread; uint16_t capability, thread, capability);
}
/* It has this name from now on. */
static inline jitquill_status jitquill_thread_named(uint64_t thread, const char* name) {
  JITQUILL_TELL_TEXT(THREAD_NAMED, name, uint64_t thread, thread);
}
/* As thread_created(), of one that runs sparks. */
static inline jitquill_status jitquill_spark_thread_created(uint64_t thread) {
  JITQUILL_TELL(SPARK_THREAD_CREATED, uint64_t thread, thread);
}

/* There is one more. capability: from 0, without gaps; not 65535. */
static inline jitquill_status jitquill_capability_created(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_CREATED, uint16_t capability, capability);
}
/* It is gone. */
static inline jitquill_status jitquill_capability_deleted(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_DELETED, uint16_t capability, capability);
}
/* It runs nothing until it is enabled. */
static inline jitquill_status jitquill_capability_disabled(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_DISABLED, uint16_t capability, capability);
}
/* It runs threads again. */
static inline jitquill_status jitquill_capability_enabled(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_ENABLED, uint16_t capability, capability);
}
/* The calling thread of the system works for it: what it tells is of it, from now on. */
static inline jitquill_status jitquill_capability_taken(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_TAKEN, uint16_t capability, capability);
}
/* It does no longer. */
static inline jitquill_status jitquill_capability_left(uint16_t capability) {
  JITQUILL_TELL(CAPABILITY_LEFT, uint16_t capability, capability);
}

/* A collection was asked for. */
static inline jitquill_status jitquill_gc_requested(jitquill_gc_kind kind) {
  JITQUILL_TELL(GC_REQUESTED, uint8_t kind, (uint8_t)kind);
}
/* The calling thread stops for it, or begins it. generation: the oldest that is collected, from 0. */
static inline jitquill_status jitquill_gc_begin(uint16_t generation) {
  JITQUILL_TELL(GC_BEGIN, uint16_t generation, generation);
}
/* All threads that run managed code stand still. */
static inline jitquill_status jitquill_gc_synced(void) { JITQUILL_TELL_BYTES(GC_SYNCED, NULL, 0); }
/* What the calling thread does in it from now on. */
static inline jitquill_status jitquill_gc_phase(jitquill_gc_phase_kind phase) {
  JITQUILL_TELL(GC_PHASE, uint8_t phase, (uint8_t)phase);
}
/* Of this collection. generation: the oldest that was collected; threads: that took part; copied [bytes]:
 * that were kept by copying; slop [bytes]: lost in the ends of blocks; fragmentation [bytes]: held and not
 * used; most_copied [bytes]: by the thread that copied most; all_copied [bytes]: by all threads together;
 * balanced_copied [bytes]: of them that were evenly shared. */
static inline jitquill_status jitquill_gc_statistics(uint16_t generation, uint32_t threads, uint64_t copied,
    uint64_t slop, uint64_t fragmentation, uint64_t most_copied, uint64_t all_copied,
    uint64_t balanced_copied) {
  JITQUILL_TELL(GC_STATISTICS, uint16_t generation; uint32_t threads; uint64_t copied; uint64_t slop;
      uint64_t fragmentation; uint64_t most_copied; uint64_t all_copied; uint64_t balanced_copied, generation,
      threads, copied, slop, fragmentation, most_copied, all_copied, balanced_copied);
}
/* The calling thread goes on with the program. */
static inline jitquill_status jitquill_gc_end(void) { JITQUILL_TELL_BYTES(GC_END, NULL, 0); }
/* A phase of a collector that runs beside the program begins. */
static inline jitquill_status jitquill_concurrent_begin(jitquill_concurrent_phase phase) {
  JITQUILL_TELL(CONCURRENT_BEGIN, uint8_t phase, (uint8_t)phase);
}
/* That phase ends. marked [objects]: that it marked, else 0. */
static inline jitquill_status jitquill_concurrent_end(jitquill_concurrent_phase phase, uint64_t marked) {
  JITQUILL_TELL(CONCURRENT_END, uint8_t phase; uint64_t marked, (uint8_t)phase, marked);
}
/* The calling thread gave what it had remembered to the concurrent collector. */
static inline jitquill_status jitquill_remembered_flushed(void) {
  JITQUILL_TELL_BYTES(REMEMBERED_FLUSHED, NULL, 0);
}
/* Of one size of blocks in the heap of a collector that moves nothing. block_size [bytes]; active_segments:
 * that are being filled; filled_segments: that are full; live_blocks: with objects. */
static inline jitquill_status jitquill_heap_census(uint32_t block_size, uint32_t active_segments,
    uint32_t filled_segments, uint32_t live_blocks) {
  JITQUILL_TELL(HEAP_CENSUS, uint32_t block_size; uint32_t active_segments; uint32_t filled_segments;
      uint32_t live_blocks, block_size, active_segments, filled_segments, live_blocks);
}
/* Empty segments of that heap were given back. kept: free, for later. */
static inline jitquill_status jitquill_segments_pruned(uint32_t pruned, uint32_t kept) {
  JITQUILL_TELL(SEGMENTS_PRUNED, uint32_t pruned; uint32_t kept, pruned, kept);
}

/* How the heap is made. Once, at the start. most [bytes]: its limit, 0 = none; allocation_area [bytes]: of
 * each capability; large_block [bytes]: that it grows by; small_block [bytes]: that it is divided into. */
static inline jitquill_status jitquill_heap_info(uint16_t generations, uint64_t most,
    uint64_t allocation_area, uint64_t large_block, uint64_t small_block) {
  JITQUILL_TELL(HEAP_INFO, uint16_t generations; uint64_t most; uint64_t allocation_area;
      uint64_t large_block; uint64_t small_block, generations, most, allocation_area, large_block,
      small_block);
}
/* By the calling thread's capability, since the program began. total [bytes]: never less than before. */
static inline jitquill_status jitquill_heap_allocated(uint64_t total) {
  JITQUILL_TELL(HEAP_ALLOCATED, uint64_t total, total);
}
/* What the heap has of the system's memory. size [bytes]: in large blocks. */
static inline jitquill_status jitquill_heap_size(uint64_t size) {
  JITQUILL_TELL(HEAP_SIZE, uint64_t size, size);
}
/* What of it is in use. size [bytes]: in small blocks. */
static inline jitquill_status jitquill_heap_blocks(uint64_t size) {
  JITQUILL_TELL(HEAP_BLOCKS, uint64_t size, size);
}
/* What lives, behind a collection of all generations. size [bytes]. */
static inline jitquill_status jitquill_heap_live(uint64_t size) {
  JITQUILL_TELL(HEAP_LIVE, uint64_t size, size);
}
/* Memory was given back to the system, or was to be. current [large blocks]: that the heap has; needed [large
 * blocks]: that it wants to keep; returned [large blocks]: that went. */
static inline jitquill_status jitquill_heap_returned(uint32_t current, uint32_t needed, uint32_t returned) {
  JITQUILL_TELL(HEAP_RETURNED, uint32_t current; uint32_t needed; uint32_t returned, current, needed,
      returned);
}

/* Something happened to a spark of the calling thread's capability. */
static inline jitquill_status jitquill_spark(jitquill_spark_kind what) {
  JITQUILL_TELL(SPARK, uint8_t what, (uint8_t)what);
}
/* As run, by the calling thread's capability, of another's. victim: whose it was. */
static inline jitquill_status jitquill_spark_stolen(uint16_t victim) {
  JITQUILL_TELL(SPARK_STOLEN, uint16_t victim, victim);
}
/* Of the calling thread's capability since the program began, now and then. created [sparks]: in all; dud
 * [sparks]: not created; overflowed [sparks]: without room; converted [sparks]: run or stolen; collected
 * [sparks]: nobody wants; fizzled [sparks]: not run; remaining [sparks]: that wait now. */
static inline jitquill_status jitquill_spark_counters(uint64_t created, uint64_t dud, uint64_t overflowed,
    uint64_t converted, uint64_t collected, uint64_t fizzled, uint64_t remaining) {
  JITQUILL_TELL(SPARK_COUNTERS, uint64_t created; uint64_t dud; uint64_t overflowed; uint64_t converted;
      uint64_t collected; uint64_t fizzled; uint64_t remaining, created, dud, overflowed, converted,
      collected, fizzled, remaining);
}

/* What runtime this is. Once, at the start. text: its name and version. */
static inline jitquill_status jitquill_runtime_named(const char* text) {
  JITQUILL_TELL_ONLY(RUNTIME_NAMED, text);
}
/* A moment of the program that tools show as a mark. */
static inline jitquill_status jitquill_marker(const char* text) { JITQUILL_TELL_ONLY(MARKER, text); }
/* What the program says. text: one line. */
static inline jitquill_status jitquill_message(const char* text) { JITQUILL_TELL_ONLY(MESSAGE, text); }
/* What the runtime says. text: one line. */
static inline jitquill_status jitquill_runtime_message(const char* text) {
  JITQUILL_TELL_ONLY(RUNTIME_MESSAGE, text);
}
/* What the program says, in a format of its own. */
static inline jitquill_status jitquill_binary_message(const void* payload, size_t size) {
  JITQUILL_TELL_BYTES(BINARY_MESSAGE, payload, size);
}

/* A counter has this name. Before its first value. counter: the runtime's number for it; name: with its
 * unit. */
static inline jitquill_status jitquill_counter_named(uint32_t counter, const char* name) {
  JITQUILL_TELL_TEXT(COUNTER_NAMED, name, uint32_t counter, counter);
}
/* What it says now. value: in its unit. */
static inline jitquill_status jitquill_counter(uint32_t counter, int64_t value) {
  JITQUILL_TELL(COUNTER, uint32_t counter; int64_t value, counter, value);
}

/* A place in the program that allocates. Before the first use of its number. site: the runtime's number for
 * it, from 1; name: function, then (file:line). */
static inline jitquill_status jitquill_allocation_site(uint32_t site, const char* name) {
  JITQUILL_TELL_TEXT(ALLOCATION_SITE, name, uint32_t site, site);
}
/* By a site since this was last told of it. objects [objects]; size [bytes]: of them together. */
static inline jitquill_status jitquill_allocated(uint32_t site, uint64_t objects, uint64_t size) {
  JITQUILL_TELL(ALLOCATED, uint32_t site; uint64_t objects; uint64_t size, site, objects, size);
}
/* Samples of the heap follow. bands: what a band of a sample is; period [ns]: between samples, 0 = at no
 * fixed times. */
static inline jitquill_status jitquill_heap_profile_begin(jitquill_band_kind bands, uint64_t period) {
  JITQUILL_TELL(HEAP_PROFILE_BEGIN, uint8_t bands; uint64_t period, (uint8_t)bands, period);
}
/* A sample begins. sample: its number, from 0. */
static inline jitquill_status jitquill_heap_sample_begin(uint64_t sample) {
  JITQUILL_TELL(HEAP_SAMPLE_BEGIN, uint64_t sample, sample);
}
/* What lives of one band. size [bytes]. */
static inline jitquill_status jitquill_heap_sample_band(uint64_t size, const char* band) {
  JITQUILL_TELL_TEXT(HEAP_SAMPLE_BAND, band, uint64_t size, size);
}
/* What lives of one site's objects. size [bytes]. */
static inline jitquill_status jitquill_heap_sample_site(uint32_t site, uint64_t size) {
  JITQUILL_TELL(HEAP_SAMPLE_SITE, uint32_t site; uint64_t size, site, size);
}
/* It is whole. */
static inline jitquill_status jitquill_heap_sample_end(uint64_t sample) {
  JITQUILL_TELL(HEAP_SAMPLE_END, uint64_t sample, sample);
}
/* clang-format on */
/* ---- End of what is made ---- */

#undef JITQUILL_TELL
#undef JITQUILL_TELL_TEXT
#undef JITQUILL_TELL_BYTES
#undef JITQUILL_TELL_ONLY

#ifdef __cplusplus
}
#endif
#endif
