#include "agent/hooks/stack_copy.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/lanes/lane.hpp"
#include "agent/lanes/lane_room.hpp"
#include "agent/lanes/own_stack.hpp"
#include "agent/lanes/pool_page.hpp"

namespace jitquill {
namespace {

using namespace lanes;

constexpr std::uint64_t kPageSize = 4096;
constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t page_end(std::uint64_t address) noexcept {
  return (address & ~(kPageSize - 1)) + kPageSize;
}

long read_by_kernel(const iovec& local, const iovec* remote, std::size_t count) noexcept {
  const long pid = cpu::kernel_call(SYS_getpid);
  return cpu::kernel_call(SYS_process_vm_readv, pid, &local, 1, remote, count, 0);
}

struct Slice {
  std::uint64_t end;
  bool may_vanish;  // but for the page in which the thread runs
};

// Of the pages from `at` up to `end` those that can be read: a byte of each is. Where that may not be asked,
// the first.
Slice readable_slice(std::uint64_t at, std::uint64_t end) noexcept {
  constexpr std::size_t kMostPages = kMostSlice / kPageSize + 2;
  std::uint8_t bytes[kMostPages];
  iovec remote[kMostPages];
  std::size_t count = 0;
  for (std::uint64_t page = at; page < end; page = page_end(page))
    remote[count++] = {reinterpret_cast<void*>(page), 1};
  const long read = read_by_kernel({bytes, count}, remote, count);
  std::uint64_t readable = page_end(at);
  for (long i = 1; i < read; ++i) readable = page_end(readable);
  return {readable < end ? readable : end, read > 1};
}

StackBounds known_stack() noexcept {
  PoolPage* const pool = g_pool_page.load(std::memory_order_acquire);
  const auto* const cell = reinterpret_cast<const Cell*>(jitquill_lane_cursor);
  if (pool == nullptr || !pool->has(cell)) return {};
  return {cell->stack_low, cell->stack_high};
}

Slice slice_above(std::uint64_t sp) noexcept {
  if (sp % kWord != 0) return {sp, false};
  const std::uint64_t most = sp + kMostSlice;
  const StackBounds own = known_stack();
  Slice slice = own.has(sp) ? Slice{own.high < most ? own.high : most, false} : readable_slice(sp, most);
  slice.end -= (slice.end - sp) % kWord;
  return slice;
}

// The words of a slice, upwards. What may vanish (stacks of fibers, side by side, of which another thread
// unmaps one) is asked of the kernel, some words at a time: signal stacks are small. What has vanished reads
// as 0.
class SliceWords {
 public:
  SliceWords(std::uint64_t start, const Slice& slice) noexcept : at_(start), slice_(slice) {}

  std::uint64_t next() noexcept {
    if (at_ == slice_.end) return 0;
    const std::uint64_t at = at_;
    at_ += kWord;
    if (!slice_.may_vanish) return mirror::return_address(*reinterpret_cast<const std::uint64_t*>(at), at);
    if (taken_ == kAtOnce) read(at);
    return mirror::return_address(words_[taken_++], at);
  }

 private:
  static constexpr std::size_t kAtOnce = 32;

  void read(std::uint64_t at) noexcept {
    const std::uint64_t left = slice_.end - at;
    const iovec remote{reinterpret_cast<void*>(at), left < sizeof words_ ? left : sizeof words_};
    const long bytes = read_by_kernel({words_, sizeof words_}, &remote, 1);
    for (std::size_t i = bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / kWord; i < kAtOnce; ++i)
      words_[i] = 0;
    taken_ = 0;
  }

  std::uint64_t at_;
  const Slice slice_;
  std::size_t taken_ = kAtOnce;
  std::uint64_t words_[kAtOnce];
};

// The payload's bytes, in the pieces that records have.
class PayloadBits {
 public:
  PayloadBits(const StackHead& head, const Slice& slice) noexcept
      : next_(reinterpret_cast<const std::uint64_t*>(&head)),
        head_end_(next_ + sizeof head / kWord),
        slice_(head.registers.sp, slice) {}

  std::uint64_t take(unsigned bits) noexcept {
    if (count_ < bits) {
      bits_ |= static_cast<unsigned __int128>(next_word()) << count_;
      count_ += 64;
    }
    const auto taken = static_cast<std::uint64_t>(bits_) & ((std::uint64_t{1} << bits) - 1);
    bits_ >>= bits;
    count_ -= bits;
    return taken;
  }

 private:
  std::uint64_t next_word() noexcept { return next_ != head_end_ ? *next_++ : slice_.next(); }

  const std::uint64_t* next_;
  const std::uint64_t* const head_end_;
  SliceWords slice_;
  unsigned __int128 bits_ = 0;
  unsigned count_ = 0;
};

}  // namespace

void put_call_stack(RecordKind kind, std::uint64_t value, const StackRegisters& registers) noexcept {
  if (!is_on()) return;
  const StackHead head{what_word(kind, value, 0), registers};
  const Slice slice = slice_above(registers.sp);
  const std::size_t size = sizeof head + (slice.end - registers.sp);
  const std::size_t more = (size + kMoreBytes - 1) / kMoreBytes;
  Record* const at = reserve(more + 1);
  if (at == nullptr) return;
  const std::uint64_t now = cpu::ticks();
  PayloadBits bits(head, slice);
  constexpr unsigned kInWhen = 8 * kMoreInWhen, kInWhat = 8 * (kMoreBytes - kMoreInWhen);
  for (std::size_t i = 0; i < more; ++i) {
    const auto following = static_cast<std::uint32_t>(more - 1 - i) << 16;
    const std::uint64_t when = bits.take(kInWhen) | kMoreMark;
    store_record(at + 1 + i, what_word(RecordKind::kMore, bits.take(kInWhat), following), when);
  }
  const std::uint64_t what = std::uint64_t{kPostCallStack} | std::uint64_t{size} << 16;
  store_record(at, what_word(RecordKind::kPost, what, 0), when_word(now, 0));
}

}  // namespace jitquill
