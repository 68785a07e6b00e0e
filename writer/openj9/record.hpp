// A record of a trace: what one thread did, entry by entry, until it is full.
//
// A thread's records are its own; each is whole without the others, so that any of them may be lost. OpenJ9's
// formatter reads them from the end to the front, and joins a thread's in the order in which they lie in the
// file.
//
// Context   one thread at a time. Allocates by nothrow operator new, once.
// Promises  entries are whole; no record is empty; the clock comes back to the bit whatever steps it makes.
// Does not  know a file, nor who reads: finished records go to the caller's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/openj9/entry.hpp"
#include "writer/openj9/header.hpp"

namespace jitquill::openj9 {

inline constexpr std::size_t kRecordHead = 64;
inline constexpr std::size_t kThreadAt = 32;        // its key
inline constexpr std::size_t kFirstEntryAt = 56;    // the offset of the first data byte
inline constexpr std::size_t kNewestEntryAt = 60;   // that of the newest length
inline constexpr std::size_t kMostThreadName = 96;  // so that a record of kLeastRecord has room for an entry
inline constexpr std::string_view kExceptionName = "Exception trace pseudo-thread";

struct ThreadId {
  std::uint64_t key = 0;  // below 2^63, with pointers of 4 bytes below 2^32; of one life of one thread. 0:
                          // the exception buffer
  std::uint64_t tid = 0;  // the system's
  std::string_view name = {};
};

// The fields in front of a record's entries, of a record that begins; the offset of the first data byte.
template <Target kTarget>
std::size_t put_record_head(const ThreadId& thread, std::uint8_t* record) noexcept;

template <Target kTarget>
class Record {
 public:
  Record() noexcept = default;
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // False: no memory. `size` is the header's.
  bool open(std::uint32_t size, const Clock& clock, const ThreadId& thread) noexcept;
  void rename(std::string_view name) noexcept;  // of the records that follow, if this one has entries

  // Bytes for an entry in an empty record: EntryHead::most_parameters().
  std::size_t most_room() const noexcept { return size_ - first_ - 1 - kSpecialSize; }
  bool is_empty() const noexcept { return is_empty_; }
  // For entries of `size` bytes together, at that time, behind those that are there.
  bool has_room(std::uint64_t ticks, std::size_t size) const noexcept {
    return !is_empty_ && size + (steps_over(ticks) ? kSpecialSize : 0) <= size_ - at_;
  }

  // One entry. What is full goes to `out`, whole. kTooLarge: no record has room for it; nothing is put.
  Status put(std::uint64_t ticks, const EntryHead<kTarget>& head, std::span<const std::uint8_t> parameters,
             Bytes& out) noexcept {
    const std::size_t size = EntryHead<kTarget>::size_in_record(head.size_with(parameters.size()));
    if (!has_room(ticks, size)) [[unlikely]] {
      const Status status = make_room(ticks, size, out);
      if (status != Status::kOk) return status;
    }
    if (steps_over(ticks)) [[unlikely]]
      at_ = offset_of(put_wrap<kTarget>(static_cast<std::uint32_t>(newest_ >> 32), bytes_ + at_));
    at_ = offset_of(head.put(ticks, parameters, bytes_ + at_));
    newest_ = ticks;
    return Status::kOk;
  }
  // So many records of this thread are missing at this place. They are told of in front of the next entry.
  Status lose(std::uint32_t records, Bytes& out) noexcept;
  // What there is goes to `out`, if there is anything.
  Status close(Bytes& out) noexcept;
  // What there is goes, without a word.
  void discard() noexcept { is_empty_ = true; }
  // What there is, and so many records before it, did not get to their file: told as lost.
  void drop(std::uint32_t records) noexcept;
  std::uint32_t untold_loss() const noexcept { return lost_; }  // records

  // What another process needs to go on with it, as values that replace: all of it, or what is new since the
  // last call. apply(): into a record that is open with the same size and clock. False: damage.
  void put_state(bool whole, Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  bool steps_over(std::uint64_t ticks) const noexcept { return ticks >> 32 != newest_ >> 32; }
  std::uint32_t offset_of(const std::uint8_t* place) const noexcept {
    return static_cast<std::uint32_t>(place - bytes_);
  }
  Status make_room(std::uint64_t ticks, std::size_t size, Bytes& out) noexcept;
  void begin(std::uint64_t ticks) noexcept;

  std::uint8_t* bytes_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t first_ = 0;  // offset of the first data byte
  std::uint32_t at_ = 0;     // where the next entry goes
  std::uint32_t lost_ = 0;
  std::uint32_t told_ = 0;  // offset up to which the state has the entries
  std::uint64_t newest_ = 0;
  std::uint64_t oldest_ = 0;
  bool is_empty_ = true;
  Clock clock_;
  ThreadId thread_;
  char name_[kMostThreadName];
};

}  // namespace jitquill::openj9
