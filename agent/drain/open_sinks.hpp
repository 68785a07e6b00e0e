// The outputs that are open in this process, and what each has failed at.
//
// Context   under the leaf lock (sinks that are written at once).
// Promises  a sink that fails three times in a row is switched off and said so; the others go on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/log.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

class OpenSinks {
 public:
  // Makes and begins every sink whose bit is set (bit i = row i of sinks.def) and that is not open yet. The
  // first failure, else the first limit.
  Status open(std::uint32_t formats, const Origin& origin, const Outlets& outlets, Log& log) noexcept;

  bool any() const noexcept { return count_ != 0; }

  // Takes over a sink that is in no table, already begun: it is told all news and switched off as the others.
  // It stays when a folder is full. False: no room, and it is the caller's still.
  bool join(Sink& sink, const SinkRow& row) noexcept;
  // Null: it was switched off.
  Sink* joined(const SinkRow& row) noexcept;
  // Lets go of it without a word, if it is there.
  void leave(const SinkRow& row) noexcept;

  // kFiles: not those whose output is memory; kOwing: those whose last release() failed.
  enum class Reach { kAll, kFiles, kOwing };

  // The first failure, else the first limit, else kOk. kOff: nobody was there to take it. kFull is not held
  // against a sink: it waits for a new folder.
  Status load(const CodeLoad& load, Written& written, Log& log, Reach reach = Reach::kAll) noexcept;
  // Between the two, sinks may keep what they are told, to write it as one. False: some could not, and have
  // nothing of it. They are to be told again, each load by itself (kOwing).
  void hold() noexcept;
  [[nodiscard]] bool release() noexcept;
  Status move(const CodeMove& move, Written& written, Log& log) noexcept;
  Status unload(const CodeUnload& unload, Log& log) noexcept;

  // True if the last call met the end of the folder's budget.
  bool met_limit() const noexcept { return met_limit_; }

  // The process may end now, or become another program.
  void leave() noexcept;
  void end(std::uint64_t when_ns, Log& log) noexcept;
  // Ends those that are files: others follow, in a new folder.
  void hand_over(std::uint64_t when_ns, Log& log) noexcept;
  // In a child: the files are the parent's. Outputs in memory stay open.
  void abandon() noexcept;
  // In a child whose memory cannot be trusted: not even their destructors run.
  void forget() noexcept { count_ = 0; }

 private:
  struct Open {
    Sink* sink;
    const SinkRow* row;
    std::uint32_t failures;
    bool owes;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::size_t kMost = 16;
  static constexpr std::uint32_t kFailuresToSwitchOff = 3;

  static bool is_within(const Open& open, Reach reach) noexcept;
  template <class Call>
  Status each(Call call, Log& log, Reach reach = Reach::kAll) noexcept;
  void note_failure(std::size_t index, Status status, Log& log) noexcept;
  void drop(std::size_t index) noexcept;
  std::size_t find(const SinkRow& row) const noexcept;

  Open open_[kMost] = {};
  std::size_t count_ = 0;
  bool met_limit_ = false;
};

}  // namespace jitquill
