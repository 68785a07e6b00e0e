// Where a thread's events wait until they are a batch.
//
// Context   [drain]; any one thread.
// Promises  batches of at most kMost events, in the order in which they were put.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "writer/model/run.hpp"

namespace jitquill::drain {

// Who takes the batches: Drain.
class BatchTaker {
 public:
  virtual void take_batch(std::span<const RunEvent> events, std::span<const Post> posts,
                          std::span<const CallStack> stacks) noexcept = 0;

 protected:
  ~BatchTaker() = default;
};

class EventBuffer {
 public:
  static constexpr std::size_t kMost = 4096;

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
    event.depth = depth;
    event.kind = RunEventKind::kPost;
    posts_[post_count_++] = post;
  }
  // At the entry of `function`, around which so many frames of the thread are open. Where that is the event
  // before, both are in one batch.
  void stack(std::uint64_t when_ns, FunctionNumber function, std::uint32_t depth,
             const CallStack& stack) noexcept {
    const std::size_t size = std::min(stack.callers.size(), kMostCallers);
    if (count_ == kMost || stack_count_ == kMostStacks || kMostCallers - caller_count_ < size)
      flush_before_entry();
    RunEvent& event = next();
    event = {};
    event.when_ns = when_ns;
    event.amount = stack_count_;
    event.function = function;
    event.depth = depth;
    event.kind = RunEventKind::kStack;
    FunctionNumber* const callers = callers_ + caller_count_;
    std::copy_n(stack.callers.data(), size, callers);
    caller_count_ += size;
    stacks_[stack_count_++] = {{callers, size}, stack.is_partial || size < stack.callers.size()};
  }
  void flush() noexcept {
    if (count_ != 0) taker_.take_batch({events_, count_}, {posts_, post_count_}, {stacks_, stack_count_});
    count_ = post_count_ = stack_count_ = caller_count_ = 0;
  }

 private:
  void flush_before_entry() noexcept {
    const RunEvent entry = count_ != 0 ? last() : RunEvent{};
    if (entry.kind != RunEventKind::kEnter) return flush();
    --count_;
    flush();
    events_[count_++] = entry;
  }

  BatchTaker& taker_;
  std::size_t count_ = 0;
  std::size_t post_count_ = 0;
  RunEvent events_[kMost];
  Post posts_[kMost];
  static constexpr std::size_t kMostStacks = 512;
  static constexpr std::size_t kMostCallers = 16 * 1024;
  std::size_t stack_count_ = 0;
  std::size_t caller_count_ = 0;
  CallStack stacks_[kMostStacks];
  FunctionNumber callers_[kMostCallers];
};

}  // namespace jitquill::drain
