// What one thread did, as the type of the trace has it: records that follow each other, or a ring with the
// newest.
//
// Context   as the sink that uses it (writer/sink/run_sink.hpp).
// Promises  as Record and Ring. Times of a thread never go back; those of a ring of the exception buffer,
//           which many threads put into, may.
#pragma once

#include "writer/openj9/record.hpp"
#include "writer/openj9/ring.hpp"

namespace jitquill::openj9 {

class ThreadTrace {
 public:
  static constexpr std::uint32_t kRecordSize = 8192;

  ThreadTrace() noexcept = default;
  ~ThreadTrace() { ::operator delete(ring_bytes_); }
  ThreadTrace(const ThreadTrace&) = delete;
  ThreadTrace& operator=(const ThreadTrace&) = delete;

  bool open(Type type, const Clock& clock, const ThreadId& thread) noexcept;  // false: no memory
  void rename(std::string_view name) noexcept;  // of records; a ring has its first

  // Of parameters, bytes that an entry of any trace has room for.
  static std::size_t most_parameters(Type type, const EntryHead<kHost>& head) noexcept;
  Status put(std::uint64_t ticks, const EntryHead<kHost>& head, std::span<const std::uint8_t> parameters,
             Bytes& out) noexcept {
    is_changed_ = true;
    if (ticks < newest_ && !is_of_many_) ticks = newest_;
    newest_ = ticks;
    return type_ == Type::kExternal ? record_.put(ticks, head, parameters, out)
                                    : ring_.put(ticks, head, parameters);
  }
  Status lose(std::uint32_t records, Bytes& out) noexcept;
  void drop(std::uint32_t records) noexcept;
  // Of records the one that is open: it was told for nothing.
  void discard() noexcept;
  // Of records the one that is open: its thread has ended, or the trace.
  Status close(Bytes& out) noexcept;
  // The ring, at the end of the trace.
  void put_ring(Bytes& out) const noexcept;
  std::uint64_t newest_ticks() const noexcept { return newest_; }
  std::uint32_t untold_loss() const noexcept { return record_.untold_loss(); }
  std::uint64_t key() const noexcept { return key_; }
  std::uint32_t tid() const noexcept { return tid_; }

  bool is_changed() const noexcept { return is_changed_; }
  void put_state(bool whole, Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  Type type_ = Type::kExternal;
  bool is_changed_ = false;
  bool is_of_many_ = false;
  std::uint32_t tid_ = 0;
  std::uint64_t key_ = 0;
  std::uint64_t newest_ = 0;
  Record<kHost> record_;
  Ring<kHost> ring_;
  std::uint8_t* ring_bytes_ = nullptr;
};

}  // namespace jitquill::openj9
