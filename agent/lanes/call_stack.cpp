#include "agent/lanes/call_stack.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/lanes/lane_room.hpp"
#include "agent/lanes/own_stack.hpp"
#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

constinit std::atomic<const WantedPieces*> g_wanted_stacks{nullptr};

namespace {

constexpr std::uint64_t kPageSize = 4096;
constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t page_end(std::uint64_t address) noexcept {
  return (address & ~(kPageSize - 1)) + kPageSize;
}

// Of the pages from `at` up to `end` those that can be read: a byte of each is. Where that may not be asked,
// the first, in which the thread runs.
std::uint64_t readable_end(std::uint64_t at, std::uint64_t end) noexcept {
  constexpr std::size_t kMostPages = kMostSlice / kPageSize + 2;
  std::uint8_t bytes[kMostPages];
  iovec remote[kMostPages];
  std::size_t count = 0;
  for (std::uint64_t page = at; page < end; page = page_end(page))
    remote[count++] = {reinterpret_cast<void*>(page), 1};
  const iovec local{bytes, count};
  const long pid = cpu::kernel_call(SYS_getpid);
  const long read = cpu::kernel_call(SYS_process_vm_readv, pid, &local, 1, remote, count, 0);
  std::uint64_t readable = page_end(at);
  for (long i = 1; i < read; ++i) readable = page_end(readable);
  return readable < end ? readable : end;
}

StackBounds known_stack() noexcept {
  PoolPage* const pool = g_pool_page.load(std::memory_order_acquire);
  const auto* const cell = reinterpret_cast<const Cell*>(jitquill_lane_cursor);
  if (pool == nullptr || !pool->has(cell)) return {};
  return {cell->stack_low, cell->stack_high};
}

std::size_t slice_size(std::uint64_t sp) noexcept {
  if (sp % kWord != 0) return 0;
  const std::uint64_t most = sp + kMostSlice;
  const StackBounds own = known_stack();
  const std::uint64_t end = !own.has(sp) ? readable_end(sp, most) : own.high < most ? own.high : most;
  return static_cast<std::size_t>(end - sp) / kWord * kWord;
}

// The payload's bytes, in the pieces that records have.
class PayloadBits {
 public:
  PayloadBits(const StackHead& head, std::uint64_t slice_end) noexcept
      : next_(reinterpret_cast<const std::uint64_t*>(&head)),
        head_end_(next_ + sizeof head / kWord),
        slice_(reinterpret_cast<const std::uint64_t*>(head.registers.sp)),
        slice_end_(reinterpret_cast<const std::uint64_t*>(slice_end)) {}

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
  std::uint64_t next_word() noexcept {
    if (next_ != head_end_) return *next_++;
    if (slice_ == slice_end_) return 0;
    const auto at = reinterpret_cast<std::uint64_t>(slice_);
    return mirror::return_address(*slice_++, at);
  }

  const std::uint64_t* next_;
  const std::uint64_t* const head_end_;
  const std::uint64_t* slice_;
  const std::uint64_t* const slice_end_;
  unsigned __int128 bits_ = 0;
  unsigned count_ = 0;
};

}  // namespace

void put_call_stack(RecordKind kind, std::uint64_t value, const StackRegisters& registers) noexcept {
  if (!is_on()) return;
  const StackHead head{what_word(kind, value, 0), registers};
  const std::size_t slice = slice_size(registers.sp);
  const std::size_t size = sizeof head + slice;
  const std::size_t more = (size + kMoreBytes - 1) / kMoreBytes;
  Record* const at = reserve(more + 1);
  if (at == nullptr) return;
  const std::uint64_t now = cpu::ticks();
  PayloadBits bits(head, registers.sp + slice);
  constexpr unsigned kInWhen = 8 * kMoreInWhen, kInWhat = 8 * (kMoreBytes - kMoreInWhen);
  for (std::size_t i = 0; i < more; ++i) {
    const auto following = static_cast<std::uint32_t>(more - 1 - i) << 16;
    const std::uint64_t when = bits.take(kInWhen) | kMoreMark;
    store_record(at + 1 + i, what_word(RecordKind::kMore, bits.take(kInWhat), following), when);
  }
  const std::uint64_t what = std::uint64_t{kPostCallStack} | std::uint64_t{size} << 16;
  store_record(at, what_word(RecordKind::kPost, what, 0), when_word(now, 0));
}

bool is_stack_wanted(std::uint64_t address) noexcept {
  const WantedPieces* const told = g_wanted_stacks.load(std::memory_order_acquire);
  if (told == nullptr) return false;
  std::size_t low = 0,
              high = told->count;  // of the pieces behind the first that begin at or below the address
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    if (told->pieces[middle].start <= address)
      low = middle;
    else
      high = middle;
  }
  return told->pieces[low].is_wanted != 0;
}

}  // namespace jitquill::lanes
