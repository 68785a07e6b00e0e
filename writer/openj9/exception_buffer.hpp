// The exception buffer: one stream of rare events of all threads, which are there when their rings have gone
// round.
//
// Context   one thread at a time.
// Promises  as Record. In front of an entry of another thread than the one before stands whose it is, in each
//           record anew.
#pragma once

#include "writer/openj9/record.hpp"

namespace jitquill::openj9 {

template <Target kTarget>
class ExceptionBuffer {
 public:
  bool open(std::uint32_t size, const Clock& clock) noexcept {
    return record_.open(size, clock, {0, 0, kExceptionName});
  }
  // Of a thread's; 0: of no thread.
  Status put(std::uint64_t thread, std::uint64_t ticks, const EntryHead<kTarget>& head,
             std::span<const std::uint8_t> parameters, Bytes& out) noexcept {
    const std::size_t size = EntryHead<kTarget>::size_in_record(head.size_with(parameters.size()));
    if (!record_.has_room(ticks, size + kContext.size_with(kTarget.pointer_size))) {
      const Status status = record_.close(out);
      if (status != Status::kOk) return status;
    }
    if (thread != thread_ || (thread != 0 && record_.is_empty())) {
      std::uint8_t id[kTarget.pointer_size];
      (void)Fields<kTarget>(id).pointer(thread);
      const Status status = record_.put(ticks, kContext, id, out);
      if (status != Status::kOk) return status;
      thread_ = thread;
    }
    return record_.put(ticks, head, parameters, out);
  }
  Record<kTarget>& record() noexcept { return record_; }

 private:
  static constexpr auto kContext = EntryHead<kTarget>::internal(kContextNumber);

  Record<kTarget> record_;
  std::uint64_t thread_ = 0;  // of the newest entry
};

}  // namespace jitquill::openj9
