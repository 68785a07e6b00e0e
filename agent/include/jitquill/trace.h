/* Jitquill for runtimes whose users read OpenJ9's trace format (docs/openj9.md; formats=openj9): trace points
 * of the runtime's own beside ours, and each record as it is finished.
 *
 *     static const jitquill_trace_point points[] = {
 *         {sizeof(jitquill_trace_point), JITQUILL_TRACE_ENTRY, 3, 0, "Compile", "compile(%.*s, level=%d)"},
 *         {sizeof(jitquill_trace_point), JITQUILL_TRACE_EXIT, 3, 0, "Compiled", "compile, %u bytes at %p"},
 *     };
 *     jitquill_trace_component_info info = {sizeof info, 2, "myvm", points};
 *     uint32_t myvm;
 *     const char* why;
 *     if (jitquill_trace_component(&info, &myvm, &why) < 0) puts(why);
 *     ...
 *     jitquill_trace_value values[2] = {jitquill_trace_text("Foo.bar", 7), jitquill_trace_signed(1)};
 *     jitquill_trace_post(myvm, 0, values, 2);
 *
 * Reached as jitquill.h, which it includes: copy both.
 */
#ifndef JITQUILL_TRACE_H
#define JITQUILL_TRACE_H

#include "jitquill.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Trace points of the runtime's own ------------------------------------------------------------------
 * A component is a name and its trace points, which are numbered from 0. Beside the trace in the output
 * folder is a format data file for each, <command>.<component>.dat: the formatter is given it too, behind a
 * comma. */

typedef enum jitquill_trace_type { /* with _EXCEPTION a `*` stands in front */
                                   JITQUILL_TRACE_EVENT = 0,
                                   JITQUILL_TRACE_EVENT_EXCEPTION = 1,
                                   JITQUILL_TRACE_ENTRY = 2, /* what follows is indented, up to the exit */
                                   JITQUILL_TRACE_ENTRY_EXCEPTION = 3,
                                   JITQUILL_TRACE_EXIT = 4,
                                   JITQUILL_TRACE_EXIT_EXCEPTION = 5,
                                   JITQUILL_TRACE_MEMORY = 6,
                                   JITQUILL_TRACE_MEMORY_EXCEPTION = 7,
                                   JITQUILL_TRACE_DEBUG = 8,
                                   JITQUILL_TRACE_DEBUG_EXCEPTION = 9,
                                   JITQUILL_TRACE_PERFORMANCE = 10,
                                   JITQUILL_TRACE_PERFORMANCE_EXCEPTION = 11
} jitquill_trace_type;

typedef struct jitquill_trace_point {
  uint32_t struct_size;
  uint8_t type;  /* jitquill_trace_type */
  uint8_t level; /* 0 to 9: openj9.select=COMPONENT:N takes those up to N */
  uint16_t reserved;
  const char* name; /* letters, digits, `_`; at most 64 */
  /* ASCII, at most 1000 bytes, with up to 16 conversions, each of one value:
   *   %d %i %u %x %X   32 bits         %f %g   a double
   *   %lld %llu %llx   64 bits         %c      one ASCII character
   *   %zd %zu %zx %p   a pointer's     %s      text of ASCII
   *   %.*s             text of UTF-8 (one value, though it looks like two)   %%
   * with a minus sign and a width (%-5d), or zeros in front by %.8x. Others end the formatter or show what
   * nobody put: they are refused here. */
  const char* text;
} jitquill_trace_point;

typedef struct jitquill_trace_component_info {
  uint32_t struct_size;
  uint32_t count;   /* of points, 1 to 16,127 */
  const char* name; /* letters, digits, `_`; at most 32, and none of jq, jqm, dg */
  const jitquill_trace_point* points;
} jitquill_trace_component_info;

/* Registers a component for the life of the process; its texts are copied. The same once more is the same
 * component. At most 32.
 * JITQUILL_BAD_ARGUMENT: *why says what cannot be (a constant text; `why` may be NULL), the log says of which
 * trace point. JITQUILL_FULL: too many. JITQUILL_NO_OUTPUT, JITQUILL_NO_SPACE: registered, but its file could
 * not be written. */
typedef jitquill_status jitquill_trace_component_function(const jitquill_trace_component_info* info,
                                                          uint32_t* component, const char** why);

typedef enum jitquill_trace_kind {
  JITQUILL_TRACE_SIGNED = 1,
  JITQUILL_TRACE_UNSIGNED = 2, /* addresses too */
  JITQUILL_TRACE_DOUBLE = 3,
  JITQUILL_TRACE_TEXT = 4 /* `size` bytes, or up to a NUL before; NULL is shown as such */
} jitquill_trace_kind;

typedef struct jitquill_trace_value {
  uint32_t kind; /* jitquill_trace_kind */
  uint32_t size;
  union {
    int64_t integer;
    uint64_t bits;
    double real;
    const char* text;
  } is;
} jitquill_trace_value;

/* The calling thread passes a trace point now. One value for each conversion of its text: a number for
 * numbers (of which the lower half is taken where there are 32 bits), a text for texts. All together have
 * room for 1,900 bytes, texts are cut between two characters (JITQUILL_TEXT_CUT). Context: as jitquill_post()
 * (events.h), signal handlers too. JITQUILL_OFF: nobody wants it, or its level is not selected.
 * JITQUILL_BAD_ARGUMENT: no such point, or other values than its text has. */
typedef jitquill_status jitquill_trace_post_function(uint32_t component, uint32_t point,
                                                     const jitquill_trace_value* values, size_t count);

/* ---- Records --------------------------------------------------------------------------------------------
 * For programs that use the formatter's classes (TraceContext) on what a process just did: the header's bytes
 * first, then record by record. They are those of the file, in its order. */

/* Copies the header of this process's trace to `bytes`, which has `room`; *size is how long it is.
 * JITQUILL_TOO_LARGE: there is less room, nothing is copied. JITQUILL_OFF: no trace is being written. */
typedef jitquill_status jitquill_trace_metadata_function(void* bytes, size_t room, size_t* size);

typedef struct jitquill_trace_record {
  uint32_t struct_size;
  uint32_t reserved;
  const void* bytes; /* of one whole record; NULL: so many bytes of records are lost here (`size`) */
  size_t size;       /* of records, so many bytes; of a loss in the lanes it is a guess */
  uint64_t thread;   /* whose, as the record has it; 0: of no thread */
} jitquill_trace_record;

/* `record` and its bytes are the agent's, and there until the function returns.
 * Context: a thread of the agent, or one that ends the process or the output; all signals are blocked, one
 * call at a time, up to 200 KiB of stack. What other threads do waits in memory meanwhile (memory=), so copy,
 * and return soon. Of jitquill's functions only jitquill_trace_metadata() may be called: those that tell of
 * code, start or stop return JITQUILL_BUSY. It may not fork, throw or end its thread. A lock that it takes
 * must not be held by who calls jitquill_stop(), fork() or exit(), which wait for the call to return. */
typedef void jitquill_trace_taker(const jitquill_trace_record* record, void* context);

/* From now on `take` gets each record; with openj9.type=internal all of them at the end. Before
 * jitquill_start() is early enough for all. A child of fork() has none. NULL: nobody gets them any more; no
 * call is under way when that returns. JITQUILL_BUSY: there is one already, or this is it that calls. */
typedef jitquill_status jitquill_trace_subscribe_function(jitquill_trace_taker* take, void* context);

/* ---- How the functions are reached ----------------------------------------------------------------------
 * Nothing to read for users. */
typedef struct jitquill_trace_functions {
  uint32_t struct_size;
  uint32_t reserved;
  jitquill_trace_component_function* component;
  jitquill_trace_post_function* post;
  jitquill_trace_metadata_function* metadata;
  jitquill_trace_subscribe_function* subscribe;
} jitquill_trace_functions;

JITQUILL_FUNCTION const jitquill_trace_functions* jitquill_trace(void);

#ifndef JITQUILL_BUILDING
static inline jitquill_status jitquill_trace_component(const jitquill_trace_component_info* info,
                                                       uint32_t* component, const char** why) {
  const jitquill_trace_functions* const reached = jitquill_trace();
  if (why != NULL) *why = "no agent is there";
  return reached == NULL ? JITQUILL_NO_AGENT : reached->component(info, component, why);
}
static inline jitquill_status jitquill_trace_post(uint32_t component, uint32_t point,
                                                  const jitquill_trace_value* values, size_t count) {
  const jitquill_trace_functions* const reached = jitquill_trace();
  return reached == NULL ? JITQUILL_NO_AGENT : reached->post(component, point, values, count);
}
static inline jitquill_status jitquill_trace_metadata(void* bytes, size_t room, size_t* size) {
  const jitquill_trace_functions* const reached = jitquill_trace();
  return reached == NULL ? JITQUILL_NO_AGENT : reached->metadata(bytes, room, size);
}
static inline jitquill_status jitquill_trace_subscribe(jitquill_trace_taker* take, void* context) {
  const jitquill_trace_functions* const reached = jitquill_trace();
  return reached == NULL ? JITQUILL_NO_AGENT : reached->subscribe(take, context);
}
#endif

static inline jitquill_trace_value jitquill_trace_signed(int64_t integer) {
  jitquill_trace_value value = {JITQUILL_TRACE_SIGNED, 0, {0}};
  value.is.integer = integer;
  return value;
}
static inline jitquill_trace_value jitquill_trace_unsigned(uint64_t bits) {
  jitquill_trace_value value = {JITQUILL_TRACE_UNSIGNED, 0, {0}};
  value.is.bits = bits;
  return value;
}
static inline jitquill_trace_value jitquill_trace_address(const void* address) {
  return jitquill_trace_unsigned((uint64_t)(uintptr_t)address);
}
static inline jitquill_trace_value jitquill_trace_double(double real) {
  jitquill_trace_value value = {JITQUILL_TRACE_DOUBLE, 0, {0}};
  value.is.real = real;
  return value;
}
static inline jitquill_trace_value jitquill_trace_text(const char* text, size_t size) {
  jitquill_trace_value value = {JITQUILL_TRACE_TEXT, 0, {0}};
  value.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
  value.is.text = text;
  return value;
}

#ifdef __cplusplus
}
#endif
#endif
