#include "agent/hooks/mirror.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/signals_held.hpp"

namespace jitquill::mirror {
namespace {

enum Piece : std::uint8_t { kNone = 0, kThere = JITQUILL_MIRROR_IS_THERE, kBeingMade = 2, kNotOurs = 3 };

constexpr std::size_t kPieces = JITQUILL_MIRROR_PIECE_MASK + 1;
constexpr std::uint64_t kTop = std::uint64_t{1} << 47;
static_assert(kPieces * kPieceSize == kTop);

}  // namespace
}  // namespace jitquill::mirror

extern "C" {
// By mirror address. Not of std::atomic: clang 14 counts the steps of two million constructors, and stops.
[[gnu::visibility("hidden")]] constinit std::uint8_t jitquill_mirror_pieces[jitquill::mirror::kPieces] = {};
constinit const void* jitquill_return_hook = nullptr;
}

namespace jitquill::mirror {
namespace {

constinit bool g_may_take = false;
constinit bool g_has_exit_sites = false;
constinit std::atomic<std::uint64_t> g_without_mirror{0};

// Before Linux 4.17 the address is a hint, and what lies there stays too.
bool map_piece(std::uint64_t at) noexcept {
  const long mapped = cpu::kernel_call(
      SYS_mmap, at, kPieceSize, static_cast<long>(PROT_READ | PROT_WRITE),
      static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE), -1L, 0L);
  if (mapped == static_cast<long>(at)) {
    // Else the first word of each stack would cost 2 MiB of memory.
    (void)cpu::kernel_call(SYS_madvise, at, kPieceSize, MADV_NOHUGEPAGE);
    return true;
  }
  if (mapped > 0) (void)cpu::kernel_call(SYS_munmap, mapped, kPieceSize);
  return false;
}

std::atomic_ref<std::uint8_t> piece_of(std::uint64_t mirror_word) noexcept {
  return std::atomic_ref(jitquill_mirror_pieces[mirror_word / kPieceSize]);
}

bool is_there(std::uint64_t mirror_word) noexcept {
  return mirror_word < kTop && piece_of(mirror_word).load(std::memory_order_acquire) == kThere;
}

// Whoever comes second waits a little: a mapping takes microseconds.
bool make_piece(std::uint64_t mirror_word) noexcept {
  const std::atomic_ref<std::uint8_t> piece = piece_of(mirror_word);
  const lanes::SignalsHeld held;
  std::uint8_t seen = kNone;
  if (piece.compare_exchange_strong(seen, kBeingMade, std::memory_order_acquire)) {
    const bool is_ours = map_piece(mirror_word & ~(kPieceSize - 1));
    seen = is_ours ? kThere : kNotOurs;
    piece.store(seen, std::memory_order_release);
  }
  constexpr int kMostYields = 10'000;
  for (int i = 0; seen == kBeingMade && i < kMostYields; ++i) {
    (void)cpu::kernel_call(SYS_sched_yield);
    seen = piece.load(std::memory_order_acquire);
  }
  return seen == kThere;
}

bool has_shadow_stack() noexcept {
  constexpr int kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  constexpr std::uint64_t kEnabled = 1;
  std::uint64_t features = 0;
  return cpu::kernel_call(SYS_arch_prctl, kStatus, &features) == 0 && (features & kEnabled) != 0;
}

}  // namespace

void start(const Surroundings& surroundings) noexcept {
  g_has_exit_sites = surroundings.has_exit_sites;
  if (jitquill_return_hook != nullptr) return;  // words of it are in slots
  g_may_take = !has_shadow_stack();
  const auto hook = surroundings.has_nongnu_unwinder ? &jitquill_return_hook_b : &jitquill_return_hook_a;
  jitquill_return_hook = reinterpret_cast<const void*>(hook);
}

std::uint64_t return_address(std::uint64_t found, std::uint64_t slot) noexcept {
  const bool is_ours = found == reinterpret_cast<std::uint64_t>(&jitquill_return_hook_a) ||
                       found == reinterpret_cast<std::uint64_t>(&jitquill_return_hook_b);
  if (!is_ours) return found;
  const std::uint64_t mirror_word = slot - kDistance;
  return is_there(mirror_word) ? *reinterpret_cast<const std::uint64_t*>(mirror_word) : 0;
}

std::uint64_t calls_without_mirror() noexcept {
  return g_without_mirror.load(std::memory_order_relaxed);
}

}  // namespace jitquill::mirror

using namespace jitquill::mirror;

std::uint32_t jitquill_mirror_reach(std::uint64_t slot) noexcept {
  const std::uint64_t mirror_word = slot - kDistance;
  const bool may_have_one =
      g_may_take && mirror_word % 8 == 0 && mirror_word >= kPieceSize && mirror_word < kTop;
  if (may_have_one && (is_there(mirror_word) || make_piece(mirror_word))) return JITQUILL_MIRROR_TRY_AGAIN;
  if (g_has_exit_sites) return JITQUILL_MIRROR_ENTRY_ONLY;
  g_without_mirror.fetch_add(1, std::memory_order_relaxed);
  return 0;
}
