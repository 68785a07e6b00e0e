// Where `mcount` and `__fentry__` are called from.
//
// mcount: behind the prologue, which need not be one that leaves the slot where it
// seems.
//
//   55  48 89 E5             push rbp; mov rbp, rsp, then what saves and moves registers
//   (41) FF 7x F8  55  ...   push -8(reg) before: the stack was realigned, and what lies above the frame
//                            pointer is a copy of the return address, which no `ret` uses
//
// Context   [hook]
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/mirror.hpp"

extern "C" {
[[gnu::visibility("hidden")]] constinit std::atomic<std::uint64_t>
    jitquill_mcount_sites[JITQUILL_MCOUNT_SITE_MASK + 1]{};
}

namespace jitquill::mirror {
namespace {

// clang calls behind its copies of the arguments: 139 bytes where each kind has more than its registers.
constexpr std::size_t kMostPrologue = 192;
constexpr std::size_t kPageSize = 4096;
constexpr std::uint64_t kHasNone = std::uint64_t{1} << 63;  // of a site in the table: looked at before
constinit std::atomic<std::uint64_t> g_without_slot{0};

// In the page of `to` it is code that runs; below it nothing may be.
void read_before(std::uint64_t to, std::uint8_t (&bytes)[kMostPrologue]) noexcept {
  const std::uint64_t from = to - kMostPrologue;
  const iovec local{bytes, kMostPrologue};
  const iovec remote{reinterpret_cast<void*>(from), kMostPrologue};
  const long pid = cpu::kernel_call(SYS_getpid);
  if (cpu::kernel_call(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) ==
      static_cast<long>(kMostPrologue))
    return;
  const std::size_t in_page = to % kPageSize < kMostPrologue ? to % kPageSize : kMostPrologue;
  const auto* const code = reinterpret_cast<const std::uint8_t*>(to - in_page);
  for (std::size_t i = 0; i < kMostPrologue; ++i)
    bytes[i] = i < kMostPrologue - in_page ? 0 : code[i - (kMostPrologue - in_page)];
}

// The size of the call that ends at `end`; 0: it is none.
std::size_t call_size(const std::uint8_t* end) noexcept {
  if (end[-6] == 0x67 && end[-5] == 0xE8) return 6;  // relaxed by the linker
  if (end[-6] == 0xFF && end[-5] == 0x15) return 6;
  return end[-5] == 0xE8 ? 5 : 0;
}

bool is_frame_start(const std::uint8_t* at) noexcept {
  const bool moves = at[1] == 0x48 && ((at[2] == 0x89 && at[3] == 0xE5) || (at[2] == 0x8B && at[3] == 0xEC));
  return at[0] == 0x55 && moves;
}

bool has_slot(std::uint64_t site) noexcept {
  std::uint8_t code[kMostPrologue];
  read_before(site, code);
  const std::size_t call = call_size(code + kMostPrologue);
  constexpr std::size_t kFrameStart = 4;
  constexpr std::size_t kCopy = 3;
  if (call == 0) return false;
  for (std::size_t at = kMostPrologue - call - kFrameStart; at >= kCopy; --at) {
    if (is_frame_start(code + at)) return !(code[at - 1] == 0xF8 && code[at - 3] == 0xFF);
  }
  return false;
}

}  // namespace

void forget_sites() noexcept {
  for (std::atomic<std::uint64_t>& site : jitquill_mcount_sites) site.store(0, std::memory_order_relaxed);
}

std::uint64_t calls_without_slot() noexcept {
  return g_without_slot.load(std::memory_order_relaxed);
}

}  // namespace jitquill::mirror

std::uint32_t jitquill_mcount_has_slot(std::uint64_t site) noexcept {
  using namespace jitquill::mirror;
  std::atomic<std::uint64_t>& known = jitquill_mcount_sites[site & JITQUILL_MCOUNT_SITE_MASK];
  const bool has_none = known.load(std::memory_order_relaxed) == (site | kHasNone);
  if (!has_none && has_slot(site)) {
    known.store(site, std::memory_order_relaxed);
    return 1;
  }
  known.store(site | kHasNone, std::memory_order_relaxed);
  g_without_slot.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

std::uint32_t jitquill_fentry_keeps_chain(std::uint64_t site) noexcept {
  using namespace jitquill::mirror;
  std::uint8_t code[kMostPrologue];
  read_before(site, code);
  const std::size_t call = call_size(code + kMostPrologue);
  const std::uint8_t* const before = code + kMostPrologue - call - 2;
  return call != 0 && before[0] == 0x41 && before[1] == 0x52 ? 1 : 0;
}
