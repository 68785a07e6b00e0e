// Where a thread's events wait until they are a batch.
//
// Context   [drain]; any one thread.
// Promises  batches of at most kMost events, in the order in which they were put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "writer/model/run.hpp"

namespace jitquill::drain {

// Who takes the batches: Drain.
class BatchTaker {
 public:
  virtual void take_batch(std::span<const RunEvent> events, std::span<const Post> posts) noexcept = 0;

 protected:
  ~BatchTaker() = default;
};

class EventBuffer {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::uint32_t kMostDepth = (1u << 24) - 1;  // that an event can say

  explicit EventBuffer(BatchTaker& taker) noexcept : taker_(taker) {}
  EventBuffer(const EventBuffer&) = delete;
  EventBuffer& operator=(const EventBuffer&) = delete;

  // The next event: the caller fills all of it.
  RunEvent& next() noexcept {
    if (count_ == kMost) [[unlikely]]
      flush();
    return events_[count_++];
  }
  // For many at once: at least one; took() says how many were filled.
  std::span<RunEvent> room() noexcept {
    if (count_ == kMost) flush();
    return {events_ + count_, kMost - count_};
  }
  void took(std::size_t count) noexcept { count_ += count; }
  RunEvent& last() noexcept { return events_[count_ - 1]; }
  // The payload stays where it is until flush().
  void post(std::uint64_t when_ns, std::uint32_t depth, const Post& post) noexcept {
    RunEvent& event = next();
    event = {};
    event.when_ns = when_ns;
    event.amount = post_count_;
    event.depth = depth & kMostDepth;
    event.kind = RunEventKind::kPost;
    posts_[post_count_++] = post;
  }
  void flush() noexcept {
    if (count_ != 0) taker_.take_batch({events_, count_}, {posts_, post_count_});
    count_ = post_count_ = 0;
  }

 private:
  BatchTaker& taker_;
  std::size_t count_ = 0;
  std::size_t post_count_ = 0;
  RunEvent events_[kMost];
  Post posts_[kMost];
};

}  // namespace jitquill::drain
