// A sink of run news: turns batches into the bytes of one file. A row of sinks.def, as the others.
//
// It only encodes: whoever holds it (the agent's drain, `jitquill recover`) owns the file, and puts what was
// encoded and what the sink remembers into one commit. So after a kill both are as of the same batch.
//
// Context   one thread at a time.
// Promises  a status from every call; after a failed call the sink is whole and may be called again. Nothing
//           but begin(), define(), code(), batch(), samples() and end() puts into the file.
// Does not  know who calls it, nor keep a pointer into what it was handed.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/model/code.hpp"
#include "writer/model/run.hpp"
#include "writer/model/sample.hpp"
#include "writer/model/status.hpp"
#include "writer/model/trace_selection.hpp"

namespace jitquill {

class Folder;

// Who gets each record of an OpenJ9 trace as it is finished, as the file does. Called by the sink.
class RecordTaker {
 public:
  virtual void begin(std::span<const std::uint8_t> header) noexcept = 0;
  virtual void take(std::uint64_t thread, std::span<const std::uint8_t> record) noexcept = 0;
  // Records of so many bytes together are not there.
  virtual void lose(std::uint64_t thread, std::uint64_t bytes) noexcept = 0;

 protected:
  ~RecordTaker() = default;
};

// What the user asked for of the formats' own; none of them looks at another's.
struct RunSettings {
  bool eventlog_own = true;         // our events beside GHC's
  bool eventlog_messages = false;   // "START name" and "STOP name" of each call
  bool eventlog_ticky = false;      // how often functions are entered, at the interval
  bool eventlog_samples = false;    // what is open at the interval
  std::uint8_t eventlog_level = 0;  // a row of writer/sink/eventlog_level.def
  std::uint64_t eventlog_interval_ns = 10'000'000;
  bool may_go_on = false;          // begin_again() will be asked for
  std::uint32_t samples_hz = 0;    // samples a second of each CPU that runs the process; 0 = none are taken
  bool samples_by_cycles = false;  // not by the clock, where the machine can
  TraceSelection openj9_select = {};
  bool openj9_internal = false;         // rings, and not all that there was
  RecordTaker* openj9_taker = nullptr;  // outlives the sink
};

// What a sink could not put as it was told, since it began.
struct RunLosses {
#define RUN_LOSS(field, name, meaning) std::uint64_t field = 0;
#include "writer/sink/run_losses.def"
#undef RUN_LOSS
};

// What a reader knows of who is left out from then on: the sink's own numbers.
using ReaderMark = std::array<std::uint32_t, 3>;

class RunSink {
 public:
  virtual ~RunSink() = default;

  // Before begin(); a sink that apply() has brought back knows.
  virtual void set(const RunSettings&) noexcept {}
  // Is code() of use? The same answer always.
  virtual bool wants_code() const noexcept { return false; }
  // Is samples() of use? The same answer always: where no output wants them none are taken.
  virtual bool wants_samples() const noexcept { return false; }
  // A file that its readers want beside it: called as it is but for this ending, and whole before it begins.
  // Null: none.
  virtual const char* side_file() const noexcept { return nullptr; }
  virtual void put_side_file(Bytes& /*out*/) const noexcept {}
  // Files of its own beside it, which are whole at every moment, or change in place: behind begin() new ones,
  // behind apply() those that are there, of a process that was killed. The folder outlives the sink.
  virtual Status open_files(Folder& /*folder*/, bool /*are_there*/) noexcept { return Status::kOk; }
  // In a child of fork, whose parent may have been in the middle of any call: they are the parent's.
  virtual void forget_files() noexcept {}
  // What it put since the last such call is in the file now, or never will be.
  virtual void written(bool /*is_well*/) noexcept {}
  // The start of the file, empty so far.
  virtual Status begin(const Origin& origin, Bytes& out) noexcept = 0;
  virtual Status define(const FunctionInfo& function, Bytes& out) noexcept = 0;
  // Code came, moved or went: told before a batch that runs it is.
  virtual Status code(const CodeNews& /*news*/, Bytes& /*out*/) noexcept { return Status::kOk; }
  // Are modules of use? The same answer always.
  virtual bool wants_modules() const noexcept { return false; }
  // Told before a function of it is defined, where it is known by then.
  virtual Status module(const ModuleNews& /*news*/, Bytes& /*out*/) noexcept { return Status::kOk; }
  virtual Status batch(const Batch& batch, Bytes& out) noexcept = 0;
  // What a sampler saw of this process: told where the user asked for one.
  virtual Status samples(const SampleBatch& /*batch*/, Bytes& /*out*/) noexcept { return Status::kOk; }
  // Once a second while records come, and before the end.
  virtual Status cost(const RunCost& /*cost*/, Bytes& /*out*/) noexcept { return Status::kOk; }
  // The last bytes; nothing is called afterwards but the destructor.
  virtual Status end(std::uint64_t when_ns, Bytes& out) noexcept = 0;

  // Of a sink whose output may be read from the middle on (may_go_on), by itself: another file behind one
  // that is full, or a stream that somebody opens late. The same answer always.
  virtual bool can_go_on() const noexcept { return false; }
  // Puts what all are to be told before one begins in the middle.
  virtual Status settle(Bytes& /*out*/) noexcept { return Status::kOk; }
  // The last bytes of a file behind which another goes on; settle() is part of it.
  virtual Status leave_off(Bytes& out) noexcept { return settle(out); }
  // What batch() of it and leave_off() put at most, where entries wait in the sink; 0 = about what batch() is
  // told.
  virtual std::size_t most_bytes(const Batch& /*batch*/) const noexcept { return 0; }
  // The start of what is read from here on: of all that is and goes on. Behind it come define() of each
  // function and code() of what lives, both told before; then what comes for all. Changes nothing.
  virtual Status begin_again(Bytes& /*out*/) noexcept { return Status::kOff; }

  // To a reader of such a stream who is too slow, behind what it has: nothing follows, for now.
  virtual Status leave_out(ReaderMark& /*mark*/, Bytes& /*out*/) noexcept { return Status::kOff; }
  // It goes on, behind the loss of so many bytes. Then come functions and code that it was not told of.
  virtual Status take_in(const ReaderMark& /*mark*/, std::uint64_t /*lost*/, Bytes& /*out*/) noexcept {
    return Status::kOff;
  }

  virtual RunLosses losses() const noexcept { return {}; }

  // What it remembers and the file does not tell: for a sink that went away with its process.
  // put_changes(): all that changed since the last call of either, as values that replace, so that applying
  // it twice does no harm. put_all(): everything. apply(): false if that is no state of this sink.
  virtual void put_changes(Bytes& /*state*/) noexcept {}
  virtual void put_all(Bytes& /*state*/) noexcept {}
  virtual bool apply(std::span<const std::uint8_t> state) noexcept { return state.empty(); }
};

}  // namespace jitquill
