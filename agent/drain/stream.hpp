// A stream of one format, and who reads it: a descriptor of the program's, whoever opens a FIFO, or clients
// of a Unix socket.
//
// Each reader has a queue of its own, which takes what is put at one moment as a whole or not at all, and
// gives it away as fast as its reader takes it.
//
// Context   [drain].
// Promises  never waits but in end(), and no signal comes of a reader that went away. Only clients of this
//           user's, or root's, are let in. What a reader who is too slow does not get is counted.
//           Takes nothing away that is no socket of its own, or of a process that is gone.
// Does not  know what it carries: who wants a start, or has fallen behind, is asked for by its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/base/folders.hpp"
#include "agent/drain/stream_target.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/own_descriptor.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::drain {

class StreamReader {
 public:
  // Beyond it a reader has fallen behind; what it began with does not count.
  static constexpr std::size_t kMostQueued = std::size_t{4} << 20;
  // Until it has taken all that is queued.
  enum class State : std::uint8_t { kNone, kNew, kReading, kBehind };

  // kWaits: a write may wait, but for a page where it can be written to at all.
  enum class Way : std::uint8_t { kSocket, kWaits, kNeverWaits };
  void take_over(int descriptor, Way way) noexcept;
  void close() noexcept;
  State state() const noexcept { return state_; }
  bool is_there() const noexcept { return state_ != State::kNone; }
  bool has_all() const noexcept { return sent_ == queue_.size(); }

  void begin(std::span<const std::uint8_t> start) noexcept;
  // Not of one that is new or behind.
  void put(std::span<const std::uint8_t> bytes) noexcept;
  bool is_too_slow() const noexcept { return queued() > most_queued_; }
  // From here on it is left out: `last` is put, whatever the queue has.
  void fall_behind(std::span<const std::uint8_t> last, const ReaderMark& mark) noexcept;
  void lose(std::size_t bytes) noexcept { lost_ += bytes; }
  std::uint64_t lost() const noexcept { return lost_; }
  std::size_t queued() const noexcept { return queue_.size() - sent_; }
  const ReaderMark& mark() const noexcept { return mark_; }
  void catch_up(std::span<const std::uint8_t> bytes) noexcept;

  // What it takes without waiting.
  void flush() noexcept;
  // It may have gone away; what it says is not listened to. Not of a descriptor of the program's, which may
  // be there to be read.
  void listen() noexcept;
  int descriptor() const noexcept { return descriptor_.number(); }
  void let_go() noexcept { descriptor_.close(); }
  // Of the last that left; 0: none did.
  int error() const noexcept { return error_; }

 private:
  // Goes away; what it was not given is counted, but what is still queued for one that wants no more.
  void leave(long error) noexcept;
  bool has_own() noexcept;
  void append(std::span<const std::uint8_t> bytes) noexcept;
  long send(std::span<const std::uint8_t> bytes) noexcept;

  OwnDescriptor descriptor_;
  Bytes queue_;
  std::size_t sent_ = 0;
  std::size_t most_queued_ = kMostQueued;
  std::uint64_t lost_ = 0;  // since it has fallen behind
  int error_ = 0;
  ReaderMark mark_{};
  State state_ = State::kNone;
  Way way_ = Way::kNeverWaits;
};

class Stream {
 public:
  static constexpr std::size_t kMostReaders = 16;

  // kNoOutput: it cannot be opened, and why() says the reason.
  Status open(const StreamTarget& target, const char* path) noexcept;
  const char* why() const noexcept { return why_; }

  // Takes in whom there is.
  void look() noexcept;
  bool has_new() const noexcept;
  std::span<StreamReader> readers() noexcept { return readers_; }
  // To those that are neither new nor behind.
  void put(std::span<const std::uint8_t> bytes) noexcept;
  void flush() noexcept;
  // Nobody reads it, and nobody can come: why() says the reason.
  bool is_over() noexcept;

  // Readers get what is queued, for kEndWait_ns at the most; the address goes.
  void end() noexcept;
  // In a child: all of it is the parent's.
  void close() noexcept;
  // In a child at once, where it may be half-changed: only the descriptors. Who reads would wait for their
  // end.
  void let_go() noexcept;

 private:
  static constexpr std::uint64_t kEndWait_ns = 100'000'000;

  Status open_descriptor(const StreamTarget& target) noexcept;
  Status open_socket() noexcept;
  int bind_address() noexcept;
  void remove_address() noexcept;
  void accept_all() noexcept;
  void open_fifo() noexcept;
  StreamReader* free_reader() noexcept;
  Status refuse(const char* why) noexcept;

  StreamTarget::Kind kind_ = StreamTarget::Kind::kFile;
  FixedText<StreamTarget::kMostPath> path_;
  OwnDescriptor listener_;
  folders::Identity socket_;  // of the listener's name
  StreamReader readers_[kMostReaders];
  const char* why_ = "";
};

}  // namespace jitquill::drain
