#include "agent/hooks/mirror.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/name_targets.hpp"
#include "agent/lanes/hook_trouble.hpp"
#include "agent/lanes/own_stack.hpp"
#include "agent/lanes/signals_held.hpp"

namespace jitquill::mirror {
namespace {

enum Piece : std::uint8_t {
  kNone = 0,
  kThere = JITQUILL_MIRROR_IS_THERE,
  kBeingMade = 2,
  kNotOurs = 3,
  kClosed = 4,  // there, and nothing new comes into it
};

constexpr std::size_t kPieces = JITQUILL_MIRROR_PIECE_MASK + 1;
constexpr std::uint64_t kTop = std::uint64_t{1} << 47;
static_assert(kPieces * kPieceSize == kTop);
constexpr std::uint64_t kToCopy = kDistance - kCopyDistance;
static_assert(kToCopy % kPieceSize == 0);
constexpr std::uint64_t kHookSize = JITQUILL_RETURN_HOOK_SIZE;
static_assert(kHookSize == (JITQUILL_RETURN_ENTRY_MASK + 1) * JITQUILL_RETURN_ENTRY_SIZE);
static_assert(JITQUILL_RETURN_ENTRY_SIZE == 1 << JITQUILL_RETURN_ENTRY_SHIFT);

constexpr char kBroken[] =
    "native functions are not traced any more: a return address that was kept for one is not what its frame "
    "had there. The program copies stacks, changes return addresses or wrote over our memory; compile it "
    "with -minstrument-return=call or -finstrument-functions, which take no return addresses";
constexpr char kLost[] =
    "jitquill: the return address of a traced function is lost, and its thread cannot go on: the program "
    "copies stacks, changes return addresses or wrote over memory that is not its own. Compile it with "
    "-minstrument-return=call or -finstrument-functions, or do not trace it\n";

}  // namespace
}  // namespace jitquill::mirror

extern "C" {
// By mirror address. Not of std::atomic: clang 14 counts the steps of two million constructors, and stops.
[[gnu::visibility("hidden")]] constinit std::uint8_t jitquill_mirror_pieces[jitquill::mirror::kPieces] = {};
constinit const void* jitquill_return_hook = nullptr;
}

namespace jitquill::mirror {
namespace {

constinit std::atomic<bool> g_may_take{false};
constinit bool g_has_exit_sites = false;
constinit std::atomic<std::uint64_t> g_without_mirror{0};
constinit std::atomic<std::uint64_t> g_broken{0};

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

bool map_with_copy(std::uint64_t at) noexcept {
  if (!map_piece(at)) return false;
  if (map_piece(at + kToCopy)) return true;
  (void)cpu::kernel_call(SYS_munmap, at, kPieceSize);
  return false;
}

std::atomic_ref<std::uint8_t> piece_of(std::uint64_t mirror_word) noexcept {
  return std::atomic_ref(jitquill_mirror_pieces[mirror_word / kPieceSize]);
}

bool is_there(std::uint64_t mirror_word) noexcept {
  if (mirror_word >= kTop) return false;
  const std::uint8_t piece = piece_of(mirror_word).load(std::memory_order_acquire);
  return piece == kThere || piece == kClosed;
}

void close(std::atomic_ref<std::uint8_t> piece) noexcept {
  std::uint8_t seen = kThere;
  (void)piece.compare_exchange_strong(seen, kClosed);
}

// Those that were made, by where they begin: a look at each of two million would take a while.
constexpr std::uint32_t kMostListed = 256;
constinit std::atomic<std::uint64_t> g_listed[kMostListed] = {};
constinit std::atomic<std::uint32_t> g_made{0};

void list(std::uint64_t mirror_word) noexcept {
  const std::uint32_t at = g_made.fetch_add(1);
  if (at < kMostListed) g_listed[at].store(mirror_word);
}

void close_all() noexcept {
  g_may_take.store(false);
  const std::uint32_t made = g_made.load();
  for (std::uint32_t i = 0; i < made && i < kMostListed; ++i) {
    if (const std::uint64_t word = g_listed[i].load()) close(piece_of(word));
  }
  if (made <= kMostListed) return;
  for (std::uint8_t& piece : jitquill_mirror_pieces) {
    if (piece != kNone) close(std::atomic_ref(piece));
  }
}

// Whoever comes second waits a little: a mapping takes microseconds.
bool make_piece(std::uint64_t mirror_word) noexcept {
  const std::atomic_ref<std::uint8_t> piece = piece_of(mirror_word);
  const lanes::SignalsHeld held;
  std::uint8_t seen = kNone;
  if (piece.compare_exchange_strong(seen, kBeingMade, std::memory_order_acquire)) {
    const bool is_ours = map_with_copy(mirror_word & ~(kPieceSize - 1));
    seen = is_ours ? kThere : kNotOurs;
    if (is_ours) list(mirror_word);
    piece.store(seen);
    if (!g_may_take.load()) close(piece);
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

bool has_low_bits(std::uint64_t word, std::uint64_t low_bits) noexcept {
  return word != 0 && ((word ^ low_bits) & JITQUILL_RETURN_ENTRY_MASK) == 0;
}

// In memory of its own: a handler's stack may be small.
bool is_code(std::uint64_t address) noexcept {
  const long scratch =
      cpu::kernel_call(SYS_mmap, nullptr, lanes::kMapsScratchSize, static_cast<long>(PROT_READ | PROT_WRITE),
                       static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  if (scratch < 0 && scratch > -4096) return true;
  const bool is_it = lanes::is_in_code(address, reinterpret_cast<char*>(scratch));
  (void)cpu::kernel_call(SYS_munmap, scratch, lanes::kMapsScratchSize);
  return is_it;
}

void end_for_good() noexcept {
  if (g_broken.fetch_add(1) != 0) return;
  close_all();
  name_targets::end_for_good();
  lanes::tell_trouble(kBroken);
}

}  // namespace

void start(const Surroundings& surroundings) noexcept {
  g_has_exit_sites = surroundings.has_exit_sites;
  if (jitquill_return_hook != nullptr) return;  // words of it are in slots
  const bool is_free = !surroundings.has_fixed_layout && !surroundings.leaves_returns;
  g_may_take.store(is_free && !has_shadow_stack());
  const auto hook = surroundings.has_nongnu_unwinder ? &jitquill_return_hook_b : &jitquill_return_hook_a;
  jitquill_return_hook = reinterpret_cast<const void*>(hook);
}

std::uint64_t return_address(std::uint64_t found, std::uint64_t slot) noexcept {
  std::uint64_t entry = found - reinterpret_cast<std::uint64_t>(&jitquill_return_hook_a);
  if (entry >= kHookSize) entry = found - reinterpret_cast<std::uint64_t>(&jitquill_return_hook_b);
  if (entry >= kHookSize) return found;
  const std::uint64_t low_bits = entry >> JITQUILL_RETURN_ENTRY_SHIFT;
  if (!is_there(slot - kDistance)) return 0;
  for (const std::uint64_t distance : {kDistance, kCopyDistance}) {
    const std::uint64_t word = *reinterpret_cast<const std::uint64_t*>(slot - distance);
    if (has_low_bits(word, low_bits)) return word;
  }
  return 0;
}

std::uint64_t calls_without_mirror() noexcept {
  return g_without_mirror.load(std::memory_order_relaxed);
}

std::uint64_t broken_returns() noexcept {
  return g_broken.load(std::memory_order_relaxed);
}

}  // namespace jitquill::mirror

using namespace jitquill::mirror;

// The line on stderr is the one that we write unasked: nobody else would ever say what the host died of.
std::uint64_t jitquill_mirror_mend(std::uint64_t slot, std::uint64_t low_bits) noexcept {
  namespace cpu = jitquill::cpu;
  low_bits &= JITQUILL_RETURN_ENTRY_MASK;
  const jitquill::lanes::SignalsHeld held;
  end_for_good();
  for (const std::uint64_t distance : {kDistance, kCopyDistance}) {
    const std::uint64_t word = *reinterpret_cast<const std::uint64_t*>(slot - distance);
    if (has_low_bits(word, low_bits) && is_code(word)) return word;
  }
  constexpr int kStandardError = 2;
  (void)cpu::kernel_call(SYS_write, kStandardError, kLost, sizeof kLost - 1);
  return 0;
}

std::uint32_t jitquill_mirror_reach(std::uint64_t slot) noexcept {
  const std::uint64_t mirror_word = slot - kDistance;
  const bool may_have_one = g_may_take.load(std::memory_order_relaxed) && mirror_word % 8 == 0 &&
                            mirror_word >= kPieceSize && mirror_word < kTop;
  if (may_have_one && (is_there(mirror_word) || make_piece(mirror_word))) return JITQUILL_MIRROR_TRY_AGAIN;
  if (broken_returns() != 0) return 0;
  if (g_has_exit_sites) return JITQUILL_MIRROR_ENTRY_ONLY;
  g_without_mirror.fetch_add(1, std::memory_order_relaxed);
  return 0;
}
