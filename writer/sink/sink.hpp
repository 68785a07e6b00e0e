// A sink turns news into one format. One file or folder per format, one row in sinks.def.
//
// Context   one thread at a time: the agent's leaf lock for at-once sinks, its drain for the others.
// Promises  a status from every call; a sink never retries by itself. After a failed call it is whole and
//           may be called again: whoever holds it counts failures and switches it off.
// Does not  know who calls it, nor keep a pointer into what it was handed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/budget.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/object_registry.hpp"

namespace jitquill {

// Where a sink's files go. The agent's output folder in a host, anything else in a program of yours.
class Folder {
 public:
  // A new, empty file of this name, open for reading and writing; -errno if it cannot be made. The sink
  // closes it. A folder may instead hand out a file that it made for this process before, to be continued.
  virtual int create(const char* name) noexcept = 0;
  // One that create() made here, whose descriptor the process has closed meanwhile; or negative.
  virtual int open_again(const char* /*name*/) noexcept { return -1; }
  // Another file of a sink, behind its first: where create() hands out those that are there, a new one all
  // the same.
  virtual int create_next(const char* name) noexcept { return create(name); }
  // Takes a file away that create() made and that came to nothing.
  virtual void remove(const char* name) noexcept = 0;
  // The same where others look at the file by its name alone, if nobody has written to it. False: it stays.
  virtual bool remove_empty(const char* /*name*/) noexcept { return false; }
  // Where it is; stays readable for good. Empty: nowhere that could be opened.
  virtual const char* path() const noexcept { return ""; }
  // What its files may take together; null = no limit. A sink that meets it answers kFull.
  virtual Budget* budget() noexcept { return nullptr; }

 protected:
  ~Folder() = default;
};

// Where perf maps go: the same lines into each. Null: not there.
using MapFolders = std::array<Folder*, 2>;

// Where a sink's output goes.
struct Outlets {
  // NOLINTNEXTLINE(google-explicit-constructor): a folder is all that most sinks need
  Outlets(Folder& files, ObjectRegistry* registry = nullptr) noexcept
      : Outlets(files, registry, {&files, nullptr}) {}
  Outlets(Folder& files, ObjectRegistry* registry, const MapFolders& maps) noexcept
      : folder(files), objects(registry), map_folders(maps) {}

  Folder& folder;
  ObjectRegistry* objects;  // null: no debugger can be told
  MapFolders map_folders;
};

// What became of one function beyond its status, for the counters.
struct Written {
  std::uint64_t bytes = 0;              // of the output
  bool unwinding_without_room = false;  // perf 6 and older cannot use it (CodeLoad::room was too small)
  std::uint32_t tail_size = 0;          // bytes behind the code that perf maps with it
  std::uint64_t twin_address = 0;       // where the tables seem to lie if not behind the code; 0 = no twin
  std::uint64_t twin_size = 0;
  bool unwinding_left_out = false;  // a status can tell of one omission only; these tell of each
  bool lines_left_out = false;
  bool duplicate_unsalted =
      false;  // equal to earlier code, with no place for salt: perf 6.17 and newer mix them up
  bool name_changed = false;  // control characters replaced, or cut: at 4096 bytes, at a NUL
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Opens the output. kNoMarker is a success with a limit.
  virtual Status begin(const Origin& origin, const Outlets& outlets) noexcept = 0;
  virtual Status load(const CodeLoad& load, Written& written) noexcept = 0;
  // Between hold() and release() what load() puts may wait in memory, so that many functions are one write.
  // A release() that fails has written nothing of it, and forgets it.
  virtual void hold() noexcept {}
  virtual Status release() noexcept { return Status::kOk; }
  virtual Status move(const CodeMove& move, Written& written) noexcept = 0;
  virtual Status unload(const CodeUnload& unload) noexcept = 0;
  // Ends the output properly and closes it.
  virtual Status end(std::uint64_t when_ns) noexcept = 0;
  // The process may end now, or become another program: what would stand in that one's way goes. What is told
  // nevertheless is written as before.
  virtual void leave() noexcept {}
  // As end(), but another output of this process follows, which begins with all code that lives.
  virtual Status hand_over(std::uint64_t when_ns) noexcept { return end(when_ns); }
  // Lets go of the output without a word: in a child of fork it is the parent's.
  virtual void abandon() noexcept = 0;
  // Its output is memory, not files: a child of fork has its own copy and goes on with it, and a new folder
  // is none of its business.
  virtual bool is_in_memory() const noexcept { return false; }
};

class RunSink;

// What a sink of run news shows of what is posted: nothing; runtimes' events; also trace points of
// components.
enum class ShownEvents : std::uint8_t { kNone, kOfRuntimes, kWithTracePoints };

// A row of sinks.def. The makers return null when memory is out.
struct SinkRow {
  std::string_view name;            // in formats=
  bool at_once;                     // written by the announcing thread; otherwise by the drain
  Sink* (*make)() noexcept;         // of code news. Both null: known name, not built yet
  RunSink* (*make_run)() noexcept;  // of run news
  const char* file;                 // of run news: in the output folder; ".x" = <command>.x
  ShownEvents events;               // of run news: RunEventKind::kPost
  const char* needs;                // options; with none of them it has nothing to show. Empty: with any
  const char* help;
};

std::span<const SinkRow> sink_rows() noexcept;

}  // namespace jitquill
