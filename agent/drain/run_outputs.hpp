// The sinks of run news and their files.
//
// Each call of a sink puts into a buffer; append() writes what there is behind what was committed, as do
// calls when it is much. If the process ends in between, whoever folds the journal cuts the files to what it
// says.
//
// Context   [drain]; `jitquill recover`. Any one thread.
// Promises  a sink that fails three times in a row, in encoding or writing, is switched off and said so
//           once, as is its first failure; the others go on. A file whose descriptor the process closed is
//           opened again. What a sink could not take is not in its file in part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "agent/drain/first_folder.hpp"
#include "agent/drain/run_file.hpp"
#include "agent/drain/stream.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/sink/run_sink.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::drain {

// One line for the user: the cause, then the cure.
using Say = void (*)(std::string_view words);

// Who knows all that was defined: Drain.
class Defined {
 public:
  struct Mark {
    std::size_t functions = 0;
    std::uint64_t code_at = 0;
  };
  virtual Mark so_far() const noexcept = 0;
  // Each function since then, and what lives of the code since then, as they were told to all before.
  virtual void define_again(const Mark& since, RunSink& sink, Bytes& out) noexcept = 0;

 protected:
  ~Defined() = default;
};

class RunOutputs {
 public:
  RunOutputs() noexcept = default;
  ~RunOutputs();
  RunOutputs(const RunOutputs&) = delete;
  RunOutputs& operator=(const RunOutputs&) = delete;

  static constexpr std::size_t kMost = 16;  // that are open
  // Less than Bytes keeps its memory for, and what a cache holds.
  static constexpr std::size_t kMostWaiting = std::size_t{256} << 10;

  // What is asked of them, and where they are.
  struct Settings {
    std::uint32_t formats = 0;  // bit i = row i of sinks.def; those of run news count
    Origin origin{};
    std::string_view command = "";  // files may have its name; at most 32 bytes
    RunSettings run{};
    std::size_t most_waiting = kMostWaiting;  // bytes of one file: they are written then
    FileLimits limits{};                      // of those that can go on in another file
    const StreamTarget* stream = nullptr;     // for one that is not to be a file
    const char* stream_path = "";             // its path, with all words put in
  };
  // The first failure; the others are open.
  Status open(const Settings& settings, Folder& folder, Defined& defined, Say say) noexcept;
  // After apply(): the files that are there, cut to what was committed. False: one is missing; it is off
  // then.
  bool resume(Folder& folder, Defined& defined, Say say) noexcept;
  bool any() const noexcept;  // that is not off
  bool wants_code() const noexcept;
  bool wants_modules() const noexcept;
  bool wants_samples() const noexcept;
  bool has_bytes() const noexcept;  // that append() would write, or commit

  void define(const FunctionInfo& function) noexcept;
  void code(const CodeNews& news) noexcept;
  void module(const ModuleNews& news) noexcept;
  void batch(const Batch& batch) noexcept;
  void samples(const SampleBatch& batch) noexcept;
  void cost(const RunCost& cost) noexcept;
  void end(std::uint64_t when_ns) noexcept;
  void append() noexcept;
  // Behind append(): those that are full go on in another file.
  void go_on_if_full() noexcept;
  // When the journal has what was put(), or will have nothing any more.
  void remove_old_files() noexcept;
  // Who reads streams is given what there is, and taken in; at every look.
  void serve_streams() noexcept;
  void end_streams() noexcept;
  void let_go_of_streams() noexcept;  // in a child, as Stream::let_go()
  void close_files() noexcept;
  std::uint64_t bytes() const noexcept;  // in all files

  // | sinks: count, {name, file, is off u8, state} |; what changed in a state, or all of it.
  void put(bool whole, Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  struct Streaming {
    Stream stream;
    Defined::Mark knows[Stream::kMostReaders];  // of those that have fallen behind
  };
  struct Output {
    RunSink* sink = nullptr;
    const SinkRow* row = nullptr;
    RunFile file;
    Streaming* streaming = nullptr;  // instead of the file
    RunLosses counted{};             // so much of what it lost
    Bytes bytes;                     // not yet in the file
    std::uint32_t failures = 0;
    bool is_off = false;
    bool is_said = false;     // that something is missing
    bool lacks_start = true;  // of the file
    std::size_t refused = 0;  // so many bytes, which are kept for that: alone they are not tried again
  };
  static constexpr std::uint32_t kFailuresToSwitchOff = 3;

  bool add(const SinkRow& row) noexcept;
  Status begin(Output& output, const Settings& settings, Folder& folder) noexcept;
  template <class Call>
  void encode(Output& output, Call call) noexcept;
  template <class Call>
  void each(Call call) noexcept;
  void put_in_pieces(Output& output, const Batch& batch) noexcept;
  void put_in_pieces(Output& output, const SampleBatch& batch) noexcept;
  bool open_stream(Output& output, const Settings& settings) noexcept;
  void serve(Output& output) noexcept;
  void serve_reader(Output& output, StreamReader& reader, Defined::Mark& knows) noexcept;
  void give_up(Output& output) noexcept;
  void write(Output& output) noexcept;
  void go_on(Output& output) noexcept;
  void note(Output& output, Status status) noexcept;
  void say_of(const Output& output, std::string_view what, Status status) noexcept;
  static void count_losses(Output& output) noexcept;

  Output outputs_[kMost];
  std::size_t count_ = 0;
  FirstFolder folder_;
  std::size_t most_waiting_ = kMostWaiting;
  bool has_ended_ = false;
  Bytes state_;
  Defined* defined_ = nullptr;
  Say say_ = nullptr;
};

}  // namespace jitquill::drain
