// Run news as every drained sink is handed it: which functions a thread entered and left, and when.
//
// Context   any; plain values.
// Promises  of a batch: events ascend in time; each kLeave has had its kEnter, in this or an earlier batch of
//           the thread, and each kEnter gets exactly one kLeave until the output ends. Functions are defined
//           (RunSink::define) before a batch names them.
// Does not  own anything: the spans live as long as the call that hands them on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jitquill {

enum class RunEventKind : std::uint8_t {
#define RUN_EVENT(name, number, since, amount) name = number,
#define FRAME_END(name, number, word, how)
#include "writer/model/run_event.def"
#undef FRAME_END
#undef RUN_EVENT
};

enum class FrameEnd : std::uint8_t {
  kNone = 0,  // not a kLeave
#define RUN_EVENT(name, number, since, amount)
#define FRAME_END(name, number, word, how) name = number,
#include "writer/model/run_event.def"
#undef FRAME_END
#undef RUN_EVENT
};

// Dense, from 0, within one output: sinks may keep what they know of functions in an array.
using FunctionNumber = std::uint32_t;

struct RunEvent {
  std::uint64_t when_ns;   // CLOCK_MONOTONIC
  std::uint64_t since_ns;  // see the kind
  std::uint64_t amount;    // see the kind
  FunctionNumber function;
  std::uint32_t depth;  // frames of the thread that are open around this one
  RunEventKind kind;
  FrameEnd end;
  // 0 = the thread's own, others (fibers, signal stacks) as they were first seen; at most 2^16 - 1 is said.
  std::uint16_t stack;
  std::uint32_t reserved;
};

// Among the numbers of posts: a trace point of a component that the runtime registered, for traces of
// OpenJ9's format: | point uleb128 | size of the component's name uleb128 | name | parameters as they lie
// there |.
inline constexpr std::uint32_t kTracePointPost = 0xFFFC;

// What a runtime posted: the number of the event and its payload, in the event's own format.
struct Post {
  std::uint32_t event;
  std::span<const std::uint8_t> payload;
};

// Who had called, from the innermost on.
struct CallStack {
  std::span<const FunctionNumber> callers;
  bool is_partial;  // frames may be missing: not all of it could be walked, or one was left by a guess
};

struct RunThread {
  std::uint32_t number;   // dense, from 0, within one output; never reused
  std::uint32_t tid;      // the kernel's; may be reused by a later thread
  std::string_view name;  // as the thread's comm; empty = unknown
};

// Consecutive events of one thread. Threads' batches come in any order.
struct Batch {
  RunThread thread;
  std::span<const RunEvent> events;
  std::span<const Post> posts;
  std::span<const CallStack> stacks = {};
};

// Where code is from now on, as it was announced.
struct CodeNews {
  enum class Kind : std::uint8_t { kLoad, kMove, kUnload };
  Kind kind;
  std::uint64_t code_id;  // of CodeLoad
  std::uint64_t when_ns;  // CLOCK_MONOTONIC, the same as in all outputs
  std::uint64_t address;
  std::uint64_t size;     // bytes
  std::string_view name;  // of a load
  std::string_view file;  // empty = unknown
  std::uint32_t line;     // 1-based; 0 = unknown
};

// A file whose code native functions are; or, without a path, that it is not there any more.
struct ModuleNews {
  std::uint64_t when_ns;
  std::uint64_t address;
  std::uint64_t size;    // bytes
  std::uint64_t offset;  // in the file, of what is mapped there
  std::string_view path;
};

// What the agent's own work took of this process so far, where records are read: hooks' time is the host's.
struct RunCost {
  std::uint64_t when_ns;
  std::uint64_t cpu_ns;   // CPU time
  std::uint64_t records;  // were read in it
};

// A function that run news names: jitted, native, or an interpreter's.
struct FunctionInfo {
  FunctionNumber number;
  std::uint64_t code_id;  // of CodeLoad; 0 = native
  std::uint64_t address;  // 0 = it has no code of its own
  std::uint64_t size;     // bytes; 0 = unknown
  std::string_view name;  // never empty
  std::string_view file;  // empty = unknown
  std::uint32_t line;     // 1-based; 0 = unknown
};

}  // namespace jitquill
