/* Jitquill for language runtimes: tell the agent which code you made, and perf, gdb and others know it. What
 * else a runtime does, its threads, collections, marks: events.h, beside it. Its own trace points: trace.h.
 *
 * One file, C99 or C++, nothing to link. Copy it into your tree if you like. By default every function
 * below is a small stub that looks the agent up once (dlsym, then one load and one compare per call), so
 * a runtime that calls them works the same where no agent is present: they return JITQUILL_NO_AGENT, 0
 * or NULL. Define one of these before the include to choose otherwise:
 *
 *   JITQUILL_LINK   you link libjitquill.so yourself; plain calls
 *   JITQUILL_WEAK   weak references, no dlsym; works only in position-independent code (PIE, .so)
 *
 * Ten lines:
 *
 *     jitquill_code code = {0};
 *     code.struct_size = sizeof code;
 *     code.addr = entry;                  // where it will run; already written and executable
 *     code.size = bytes;
 *     code.name = "fib";
 *     code.file = "/home/me/fib.nib";
 *     code.lines = rows; code.line_count = n;
 *     jitquill_code_loaded(&code, NULL);  // before the first call of the code
 *     ...
 *     jitquill_code_unloaded(entry);      // before the memory is used for anything else
 *
 * Contexts. Every function may be called by any thread at any time, in signal handlers and under locks of its
 * caller too: none calls back, uses your allocator, keeps a pointer after it returns, changes errno, or is a
 * cancellation point. Asynchronous signals wait for the microseconds of a call. (Without JITQUILL_LINK or
 * JITQUILL_WEAK a source file's first call is dlsym's, not for handlers: jitquill_wants_code() at start.)
 *
 * Growth. A struct begins with struct_size: set it to sizeof. Members are only ever added at the end, a
 * shorter struct is a valid older one, and what an agent does not know yet it ignores. Numbers never change.
 */
#ifndef JITQUILL_JITQUILL_H
#define JITQUILL_JITQUILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JITQUILL_VERSION_MAJOR 0
#define JITQUILL_VERSION_MINOR 2

#if defined(JITQUILL_BUILDING)
#define JITQUILL_FUNCTION __attribute__((visibility("default"))) extern
#elif defined(JITQUILL_LINK)
#define JITQUILL_FUNCTION extern
#else
#define JITQUILL_FUNCTION static inline
#endif

/* ---- Statuses -------------------------------------------------------------------------------------------
 * 0 = done. Positive = done, but with less than was asked. Negative = not done. jitquill_status_text() has
 * the cause and the cure of each. A runtime may ignore them all: the agent counts what it could not do (see
 * jitquill_statistic_at) and writes it to its log. */
typedef enum jitquill_status {
  JITQUILL_OK = 0,
  JITQUILL_UNWINDING_LEFT_OUT = 1, /* announced without unwinding: bad frame events or eh_frame, or unknown */
  JITQUILL_LINES_LEFT_OUT = 2,     /* announced without lines: offsets out of order or range, or no file */
  JITQUILL_QUEUED = 3,             /* called from inside a call: written when the outer one ends */
  JITQUILL_NO_MARKER = 4,          /* file written, but perf cannot find it (directory is noexec) */
  JITQUILL_BAD_OPTION = 5,         /* started, but an option was not understood: its default is used */
  JITQUILL_NOT_REGISTERED = 6,     /* announced, but not registered as JITQUILL_CODE_REGISTER asked */
  JITQUILL_ONE_MAP_ONLY = 7,       /* started, but only one of two perf maps could be made */
  JITQUILL_SITES_LEFT_OUT = 8,     /* announced, but its sites stay off: they are not as jitquill_site says */
  JITQUILL_TEXT_CUT = 9,           /* told, with as much of its text as there is room for */
  JITQUILL_NO_AGENT = -1,          /* nothing preloaded or linked; from the stubs only */
  JITQUILL_OFF = -2,               /* no output wants it */
  JITQUILL_STOPPED = -3,           /* after jitquill_stop() */
  JITQUILL_BAD_ARGUMENT = -4,      /* struct_size 0, NULL where something must be */
  JITQUILL_EMPTY_CODE = -5,        /* size 0 */
  JITQUILL_TOO_LARGE = -6,         /* code of 2 GiB and more */
  JITQUILL_NOT_FOUND = -7,         /* no live code starts there; past the end of a list */
  JITQUILL_NO_MEMORY = -8,
  JITQUILL_NO_OUTPUT = -9, /* output folder or file could not be made */
  JITQUILL_NO_SPACE = -10, /* disk, quota or file size limit reached */
  JITQUILL_WRITE_FAILED = -11,
  JITQUILL_BAD_FRAME = -12, /* of the writers: no call below returns it */
  JITQUILL_BUSY = -13,      /* called from inside another call: try again when that has returned */
  JITQUILL_FULL = -14       /* of the writers: the agent goes on in a new folder (max_bytes=) */
} jitquill_status;

/* The cause, and the cure where there is one; a constant string. NULL without an agent. */
JITQUILL_FUNCTION const char* jitquill_status_text(jitquill_status status);

/* ---- Life -------------------------------------------------------------------------------------------- */

typedef struct jitquill_start_options {
  uint32_t struct_size;
  /* "key=value key=value", as in JITQUILL_OPTIONS, whose values win over these. NULL = none. */
  const char* options;
} jitquill_start_options;

/* Opens the output now, as the first announced function does; after jitquill_stop() in a new folder.
 * `options` may be NULL. JITQUILL_OK also if already open (the options are then ignored). */
JITQUILL_FUNCTION jitquill_status jitquill_start(const jitquill_start_options* options);

/* Ends all files properly and closes them. What is announced later is refused with JITQUILL_STOPPED. Not
 * needed at exit: a file is whole after every call that announced something. Code that was announced before
 * is not in the folder of a later jitquill_start(): announce it again. */
JITQUILL_FUNCTION jitquill_status jitquill_stop(void);

/* 1 if announcing is of use now, 0 if no output wants code: then lines and frames need not be prepared. */
JITQUILL_FUNCTION int jitquill_wants_code(void);

/* The folder of this process's files, absolute; NULL before the first announcement. Valid until another is
 * opened: by jitquill_start(), with max_bytes= by any announcement. */
JITQUILL_FUNCTION const char* jitquill_output_folder(void);

/* ---- Code --------------------------------------------------------------------------------------------- */

/* A row of the line table: the code from `offset` to the next row comes from this line. */
typedef struct jitquill_line {
  uint32_t offset;   /* bytes from the start of the code; ascending, below its size */
  uint32_t line;     /* 1-based, 0 = unknown */
  uint32_t column;   /* 1-based, 0 = unknown */
  uint32_t reserved; /* 0 */
  const char* file;  /* NULL = jitquill_code.file. An absolute path lets tools show the source */
} jitquill_line;

/* What an instruction does to the frame. An event takes effect at its offset, which is where the instruction
 * ENDS. "CFA" is the value of the stack pointer before the call that entered the function; on entry the
 * stack pointer is 8 bytes below it (x86-64: the return address). Until SET_FRAME every move of the stack
 * pointer must be told; from then on the CFA is counted from the frame register, and moves may be left out.
 *
 *   push rbp; mov rbp, rsp     PUSH rbp, SET_FRAME rbp
 *   pop rbp                    POP rbp: if it is the frame register, the CFA is counted from sp again
 *   leave                      RESTORE rbp, DROP_FRAME 8 (where only `push rbp` came before `mov rbp, rsp`)
 *   push / pop of scratch      ALLOCATE 8 / FREE 8
 *   mov [rsp + k], rbx         SAVE rbx, CFA - rsp - k
 *   ret in the middle          REMEMBER before its epilogue's first event, RECALL at the end of the ret */
typedef enum jitquill_frame_kind {
  JITQUILL_FRAME_PUSH = 1,      /* push reg: caller's value of reg is now at sp. Scratch pushes: ALLOCATE 8 */
  JITQUILL_FRAME_POP = 2,       /* pop reg: it holds the caller's value again */
  JITQUILL_FRAME_ALLOCATE = 3,  /* sub sp, value; also a push of anything that is not a caller's register */
  JITQUILL_FRAME_FREE = 4,      /* add sp, value */
  JITQUILL_FRAME_SAVE = 5,      /* caller's value of reg was stored value bytes below the CFA (16, 24, ...) */
  JITQUILL_FRAME_RESTORE = 6,   /* reg was loaded back */
  JITQUILL_FRAME_SET_FRAME = 7, /* mov reg, sp: from here the CFA is found through reg */
  JITQUILL_FRAME_DROP_FRAME = 8, /* through sp again, which is value bytes below the CFA (8 after `leave`) */
  JITQUILL_FRAME_REMEMBER = 9,   /* an epilogue begins that is not the last: keep this state */
  JITQUILL_FRAME_RECALL = 10,    /* behind that epilogue's ret: the kept state again */
  /* What the frame register of SET_FRAME held lies in memory too, value bytes above sp: the CFA is counted
   * from that word, and the register is free. For frames that align sp. sp must not move until DROP_FRAME. */
  JITQUILL_FRAME_FRAME_IN_MEMORY = 11
} jitquill_frame_kind;

typedef struct jitquill_frame_event {
  uint32_t offset;   /* bytes from the code's start to the instruction's end; ascending, equal allowed */
  uint8_t kind;      /* jitquill_frame_kind */
  uint8_t reg;       /* DWARF number: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7, r8..r15 8..15 */
  uint16_t reserved; /* 0 */
  uint32_t value;    /* bytes, see the kind */
} jitquill_frame_event;

typedef enum jitquill_unwinding {
  JITQUILL_UNWINDING_UNKNOWN = 0, /* stacks end at this function */
  /* `frame` says it all; no events at all = a leaf that never touches the stack pointer */
  JITQUILL_UNWINDING_FRAME_EVENTS = 1,
  /* An entry of an .eh_frame section, as a compiler makes it: `eh_frame`. */
  JITQUILL_UNWINDING_EH_FRAME = 2,
  /* Nothing but that rbp is kept as frame pointer all along: `push rbp; mov rbp, rsp` first. Tools guess. */
  JITQUILL_UNWINDING_FRAME_POINTERS = 3
} jitquill_unwinding;

/* Inlined code, for tools that know scopes (README, option "inlining"). A position is a place in the source
 * of one function's body; caller is the index of the position of the call that was inlined there, -1 in the
 * outermost function. */
typedef struct jitquill_inline_position {
  int32_t caller;
  uint32_t line; /* 1-based, 0 = unknown, as all of these */
  uint32_t column;
  uint32_t function_line; /* where the function begins */
  uint32_t function_column;
  uint32_t reserved; /* 0 */
  const char* function;
  const char* file; /* NULL = unknown */
} jitquill_inline_position;

/* The code from `offset` to the next row comes from positions[position]. */
typedef struct jitquill_inline_row {
  uint32_t offset; /* ascending, below the code's size */
  uint32_t position;
} jitquill_inline_row;

typedef enum jitquill_code_flags {
  /* Register the unwinding (frame events or eh_frame) with the unwinders of this process, so that C++
   * exceptions, cancellation and stack walks pass through the code. Only for code that nobody else
   * registers. It is done whenever there is an agent, also when the status is JITQUILL_OFF or _STOPPED, since
   * outputs have no say in what the process computes. The unwinders' own locks and the allocator are used:
   * not from signal handlers. docs/unwinders.md. */
  JITQUILL_CODE_REGISTER = 1,
  /* The bytes may be unreadable, now or in part: read them with care (about 1 us), write traps for what
     cannot be read. */
  JITQUILL_CODE_MAY_FAULT = 2,
  /* The code may be moved: remember its name, lines and frame for jitquill_code_moved(). */
  JITQUILL_CODE_MAY_MOVE = 4
} jitquill_code_flags;

/* A site: 11 bytes in the code, 8-aligned (where they run and where they are written), that the agent
 * switches between a jump over themselves and a call of its hook, while threads run them. Emit them off:
 *   EB 09 id32 E8 rel32          the agent fills in id32; rel32 leads to a thunk within 2 GiB:
 *   FF 25 00 00 00 00 addr64     jitquill_site_hook(kind)
 * There the stack pointer points to the return address; r10, r11 and the flags are lost. docs/sites.md. */
typedef enum jitquill_site_kind {
  JITQUILL_SITE_ENTER = 1, /* the function's first bytes */
  JITQUILL_SITE_LEAVE = 2, /* before a ret */
  JITQUILL_SITE_TAIL = 3   /* before the jump of a tail call */
} jitquill_site_kind;

typedef struct jitquill_site {
  uint32_t offset; /* of the sled, from the start of the code; ascending */
  uint8_t kind;    /* jitquill_site_kind */
  uint8_t reserved[3];
} jitquill_site;

typedef struct jitquill_code {
  uint32_t struct_size; /* sizeof(jitquill_code) */
  uint32_t unwinding;   /* jitquill_unwinding */
  const void* addr;     /* where it runs */
  size_t size;          /* bytes, 1 .. 2 GiB - 1 */
  const void* bytes;    /* where to read the code if addr is not readable (dual mapping); NULL = addr */
  const char* name; /* UTF-8; control characters become '?', cut at 4096 bytes; NULL or "" = jit_<address> */
  const char* file; /* source file of lines without their own; NULL if every row has one */
  const jitquill_line* lines;
  size_t line_count;
  const jitquill_frame_event* frame;
  size_t frame_count;
  /* Bytes behind the code, counted from addr + size, that will hold no other code while this one lives. perf
   * puts the unwinding tables into that address range (it never reads or writes the memory). With less than
   * jitquill_unwinding_size() perf 6 and older show the function, but cannot unwind through it. */
  size_t room;
  /* The section for JITQUILL_UNWINDING_EH_FRAME. One of its entries must begin at addr. Only what unwinding
   * needs is taken, not its personality. eh_frame_addr is the address that its relative pointers were made
   * for, NULL = where it lies. */
  const void* eh_frame;
  size_t eh_frame_size;
  const void* eh_frame_addr;
  uint64_t flags; /* jitquill_code_flags, or 0 */
  const jitquill_inline_position* inline_positions;
  size_t inline_position_count;
  const jitquill_inline_row* inline_rows;
  size_t inline_row_count;
  const jitquill_site* sites; /* a wrong one keeps all of them off */
  size_t site_count;
  void* writable; /* where the code can be written until it is gone; NULL = nowhere: its sites stay off */
} jitquill_code;

/* The code at addr is final and may run from now on. Code that overlaps older code ends the older one. With
 * id != NULL the agent's number of the function is stored there (from 1, never reused), 0 when it was
 * refused. */
JITQUILL_FUNCTION jitquill_status jitquill_code_loaded(const jitquill_code* code, uint64_t* id);

/* The code that was announced at `from` runs at `to` from now on, where its bytes, the same in number, are
 * final. Its name, lines and frame are remembered. `room` is as jitquill_code.room, at the new place. The two
 * ranges may overlap. JITQUILL_NOT_FOUND if no live code with the flag
 * JITQUILL_CODE_MAY_MOVE starts at `from`. */
JITQUILL_FUNCTION jitquill_status jitquill_code_moved(const void* from, const void* to, size_t room);

/* The same, and where it can be written there (jitquill_code.writable): its sites have the same offsets,
 * their rel32 made to fit. Of code that moved without this, sites stay as they were copied. */
JITQUILL_FUNCTION jitquill_status jitquill_code_moved_to(const void* from, const void* to, size_t room,
                                                         void* at);

/* The code that was announced at addr is gone. Call it before the memory can be reused. JITQUILL_NOT_FOUND if
 * no live code starts there. */
JITQUILL_FUNCTION jitquill_status jitquill_code_unloaded(const void* addr);

/* How many bytes to leave free behind this code (see jitquill_code.room). Only size, unwinding, frame and
 * the section (with addr) are looked at. Takes no lock and writes nothing. 0 if there is no agent, if it
 * writes no unwinding, or if the frame events are refused. */
JITQUILL_FUNCTION size_t jitquill_unwinding_size(const jitquill_code* code);

/* ---- Calls of functions ------------------------------------------------------------------------------- */

/* 1 if sites are of use in code that is compiled now: hooks= names functions, an output of calls is on. */
JITQUILL_FUNCTION int jitquill_wants_sites(void);

/* What thunks of this kind of site jump to; NULL without an agent. jitquill_start() first: stack= counts. */
JITQUILL_FUNCTION const void* jitquill_site_hook(jitquill_site_kind kind);

/* Which functions are traced from now on, as hooks= says it; NULL = none. Sites of live code are switched at
 * once. JITQUILL_BAD_ARGUMENT if it is no list of patterns: then nothing changes. */
JITQUILL_FUNCTION jitquill_status jitquill_set_hooks(const char* patterns);

/* A function without machine code of its own: an interpreter's. id is 0 if it is not to be traced. */
typedef struct jitquill_function_info {
  uint32_t struct_size;
  uint32_t line;    /* 1-based, 0 = unknown */
  const char* name; /* as jitquill_code.name, not NULL */
  const char* file; /* NULL = unknown */
} jitquill_function_info;
JITQUILL_FUNCTION jitquill_status jitquill_function(const jitquill_function_info* function, uint64_t* id);

/* This thread enters, leaves it. The key's low 28 bits tell its open frames apart: a depth, an address / 16.
 * With id 0 they return at once. */
JITQUILL_FUNCTION jitquill_status jitquill_enter(uint64_t id, uint64_t frame_key);
JITQUILL_FUNCTION jitquill_status jitquill_leave(uint64_t id, uint64_t frame_key);

/* This thread is about to run on the stack [low, high), a fiber's. Its own and signal stacks are known. */
JITQUILL_FUNCTION jitquill_status jitquill_stack(const void* low, const void* high);

/* What a return address found in the word `slot` was before tracing took it; `found` if it did not; NULL if
 * not known. For walkers by frame pointers: unwinding by tables needs no help. Any context. */
JITQUILL_FUNCTION const void* jitquill_return_address(const void* found, const void* slot);

/* ---- Statistics --------------------------------------------------------------------------------------- */
typedef struct jitquill_statistic {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;    /* constant, snake_case, with its unit where it has one */
  const char* meaning; /* constant, one line */
  uint64_t value;      /* since the process began, or since its fork */
} jitquill_statistic;

/* The index-th counter (from 0), in the members that out->struct_size covers (set it); JITQUILL_NOT_FOUND
 * behind the last. The same list is written to <folder>/stats. */
JITQUILL_FUNCTION jitquill_status jitquill_statistic_at(size_t index, jitquill_statistic* out);

/* ---- How the functions are reached ----------------------------------------------------------------------
 * Nothing to read for users. The list has the order of the agent's table; new functions go to its end. */
#define JITQUILL_EACH_FUNCTION(X)                                                                            \
  X(const char*, jitquill_status_text, (jitquill_status status), (status), NULL)                             \
  X(jitquill_status, jitquill_start, (const jitquill_start_options* options), (options), JITQUILL_NO_AGENT)  \
  X(jitquill_status, jitquill_stop, (void), (), JITQUILL_NO_AGENT)                                           \
  X(int, jitquill_wants_code, (void), (), 0)                                                                 \
  X(const char*, jitquill_output_folder, (void), (), NULL)                                                   \
  X(jitquill_status, jitquill_code_loaded, (const jitquill_code* c, uint64_t* i), (c, i), JITQUILL_NO_AGENT) \
  X(jitquill_status, jitquill_code_unloaded, (const void* addr), (addr), JITQUILL_NO_AGENT)                  \
  X(size_t, jitquill_unwinding_size, (const jitquill_code* code), (code), 0)                                 \
  X(jitquill_status, jitquill_statistic_at, (size_t i, jitquill_statistic * o), (i, o), JITQUILL_NO_AGENT)   \
  X(jitquill_status, jitquill_code_moved, (const void* a, const void* b, size_t n), (a, b, n),               \
    JITQUILL_NO_AGENT)                                                                                       \
  X(jitquill_status, jitquill_code_moved_to, (const void* from, const void* to, size_t room, void* at),      \
    (from, to, room, at), JITQUILL_NO_AGENT)                                                                 \
  X(int, jitquill_wants_sites, (void), (), 0)                                                                \
  X(const void*, jitquill_site_hook, (jitquill_site_kind kind), (kind), NULL)                                \
  X(jitquill_status, jitquill_set_hooks, (const char* patterns), (patterns), JITQUILL_NO_AGENT)              \
  X(jitquill_status, jitquill_function, (const jitquill_function_info* f, uint64_t* id), (f, id),            \
    JITQUILL_NO_AGENT)                                                                                       \
  X(jitquill_status, jitquill_enter, (uint64_t id, uint64_t frame_key), (id, frame_key), JITQUILL_NO_AGENT)  \
  X(jitquill_status, jitquill_leave, (uint64_t id, uint64_t frame_key), (id, frame_key), JITQUILL_NO_AGENT)  \
  X(jitquill_status, jitquill_post, (uint32_t e, const void* p, size_t n), (e, p, n), JITQUILL_NO_AGENT)     \
  X(jitquill_status, jitquill_stack, (const void* low, const void* high), (low, high), JITQUILL_NO_AGENT)    \
  X(const void*, jitquill_return_address, (const void* found, const void* slot), (found, slot), found)       \
  X(const uint32_t*, jitquill_wanted_events, (void), (), NULL)                                               \
  X(jitquill_status, jitquill_post_text, (uint32_t e, const void* p, size_t n, const char* t, size_t m),     \
    (e, p, n, t, m), JITQUILL_NO_AGENT)                                                                      \
  X(const struct jitquill_trace_functions*, jitquill_trace, (void), (), NULL)

/* The agent exports one, named jitquill_functions_v1. */
typedef struct jitquill_functions {
  uint32_t struct_size;
  uint32_t reserved;
#define JITQUILL_MEMBER(ret, name, params, args, otherwise) ret(*name) params;
  JITQUILL_EACH_FUNCTION(JITQUILL_MEMBER)
#undef JITQUILL_MEMBER
} jitquill_functions;

#if defined(JITQUILL_BUILDING)
JITQUILL_FUNCTION const jitquill_functions jitquill_functions_v1;
#elif !defined(JITQUILL_LINK)
#if defined(JITQUILL_WEAK)
extern const jitquill_functions jitquill_functions_v1 __attribute__((weak));
#else
#include <dlfcn.h>
#endif

/* The agent's table, or one of size 0 where there is none: so "absent" is cached too. */
static inline const jitquill_functions* jitquill_reach(void) {
  static jitquill_functions absent;       /* zero */
  static const jitquill_functions* found; /* one per source file that calls the agent */
  const jitquill_functions* table = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
  if (table != NULL) return table;
#if defined(JITQUILL_WEAK)
  table = &jitquill_functions_v1;
#else
  table = (const jitquill_functions*)dlsym((void*)0 /* RTLD_DEFAULT */, "jitquill_functions_v1");
#endif
  if (table == NULL) table = &absent;
  __atomic_store_n(&found, table, __ATOMIC_RELEASE);
  return table;
}

#define JITQUILL_REACH(ret, name, params, args, otherwise)                       \
  static inline ret name params {                                                \
    const jitquill_functions* table = jitquill_reach();                          \
    const size_t end = offsetof(jitquill_functions, name) + sizeof(table->name); \
    return table->struct_size >= end ? table->name args : otherwise;             \
  }
JITQUILL_EACH_FUNCTION(JITQUILL_REACH)
#undef JITQUILL_REACH
#endif

#ifdef __cplusplus
}
#endif
#endif
