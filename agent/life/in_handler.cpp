#include "agent/life/in_handler.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "agent/lanes/own_stack.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr int kMostSignals = 64;
constexpr std::size_t kMostRestorers = 4;  // libc has one; a runtime without libc has its own
constexpr std::uint64_t kFarthest = 16 * 1024 * 1024;

// As the kernel has it.
struct KernelAction {
  std::uint64_t handler;
  std::uint64_t flags;
  std::uint64_t restorer;
  std::uint64_t mask;
};

// Where handlers return to: the first word of each one's frame.
struct Restorers {
  std::uint64_t all[kMostRestorers] = {};
  std::size_t count = 0;
  bool are_too_many = false;

  bool has(std::uint64_t word) const noexcept { return std::find(all, all + count, word) != all + count; }
  void add(std::uint64_t restorer) noexcept {
    if (has(restorer)) return;
    if (count == kMostRestorers)
      are_too_many = true;
    else
      all[count++] = restorer;
  }
};

Restorers find_restorers() noexcept {
  const auto ignored = reinterpret_cast<std::uint64_t>(SIG_IGN);  // SIG_DFL is below it
  Restorers found;
  for (int signal = 1; signal <= kMostSignals; ++signal) {
    KernelAction action{};
    if (raw::call(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask) == 0 &&
        action.handler > ignored)
      found.add(action.restorer);
  }
  return found;
}

// | restorer u64 | ucontext | siginfo |: of the registers in it, cs is that of all 64-bit programs.
constexpr std::uint64_t kSegmentsAt =
    sizeof(std::uint64_t) + offsetof(ucontext_t, uc_mcontext.gregs) + REG_CSGSFS * sizeof(greg_t);
constexpr std::uint16_t kUserCode = 0x33;

// What lies there is nobody's variable: no sanitizer may judge it. (clang 14 does not know it as
// [[gnu::...]].)
__attribute__((no_sanitize("address", "thread"))) std::uint64_t word_at(std::uint64_t address) noexcept {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

bool has_frame(const Restorers& restorers, std::uint64_t from, std::uint64_t to) noexcept {
  for (std::uint64_t at = from; at + kSegmentsAt + sizeof(std::uint64_t) <= to; at += sizeof(std::uint64_t)) {
    if (restorers.has(word_at(at)) && (word_at(at + kSegmentsAt) & 0xFFFF) == kUserCode) return true;
  }
  return false;
}

// In memory of its own: a host's thread may have a stack of 16 KiB, and the arena is for who has its lock.
// Empty where there is no memory.
lanes::StackBounds find_stack(std::uint64_t here) noexcept {
  const long scratch =
      raw::map(lanes::kMapsScratchSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(scratch)) return {};
  auto* const memory = reinterpret_cast<char*>(scratch);
  const lanes::StackBounds stack = lanes::mapping_around(here, memory);
  raw::unmap(memory, lanes::kMapsScratchSize);
  return stack;
}

}  // namespace

bool is_in_handler() noexcept {
  const Restorers restorers = find_restorers();
  if (restorers.count == 0) return false;
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & ~std::uint64_t{7};
  if (restorers.are_too_many || lanes::signal_stack().has(here)) return true;
  const lanes::StackBounds stack = find_stack(here);
  return !stack.has(here) || has_frame(restorers, here, std::min(stack.high, here + kFarthest));
}

}  // namespace jitquill
