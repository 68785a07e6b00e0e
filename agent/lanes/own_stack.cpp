#include "agent/lanes/own_stack.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/hooks/cpu.hpp"

namespace jitquill::lanes {
namespace {

constexpr int kMostReads = 1024;  // some 50,000 mappings
constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t kMostMainStack = std::uint64_t{1} << 30;  // where its limit is none

struct Mapping {
  StackBounds bounds;
  bool is_main_stack = false;
  bool is_code = false;
};

// Hexadecimal digits up to anything else, behind which `at` stands then.
std::uint64_t take_hex(const char*& at, const char* end) noexcept {
  std::uint64_t value = 0;
  for (; at < end; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9')
      value = value << 4 | static_cast<std::uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value << 4 | static_cast<std::uint64_t>(c - 'a' + 10);
    else
      break;
  }
  if (at < end) ++at;
  return value;
}

bool ends_with_stack(const char* begin, const char* end) noexcept {
  constexpr char kName[] = "[stack]";
  constexpr std::ptrdiff_t kSize = sizeof kName - 1;
  if (end - begin < kSize) return false;
  for (std::ptrdiff_t i = 0; i < kSize; ++i)
    if (end[i - kSize] != kName[i]) return false;
  return true;
}

// low-high permissions offset device inode name
Mapping mapping_of(const char* line, const char* end) noexcept {
  Mapping mapping;
  const char* at = line;
  mapping.bounds.low = take_hex(at, end);
  mapping.bounds.high = take_hex(at, end);
  mapping.is_code = end - at > 2 && at[2] == 'x';
  mapping.is_main_stack = ends_with_stack(line, end);
  return mapping;
}

// Goes through the whole lines in `text`. Behind the last one, or at the mapping that holds `address`.
const char* find_line(const char* text, const char* end, std::uint64_t address, Mapping& found) noexcept {
  for (;;) {
    const char* newline = text;
    while (newline < end && *newline != '\n') ++newline;
    if (newline == end) return text;
    const Mapping mapping = mapping_of(text, newline);
    if (mapping.bounds.has(address)) {
      found = mapping;
      return text;
    }
    text = newline + 1;
  }
}

Mapping find_mapping(int file, std::uint64_t address, char* scratch) noexcept {
  Mapping found;
  std::size_t kept = 0;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const long size = cpu::kernel_call(SYS_read, file, scratch + kept, kMapsScratchSize - kept);
    if (size <= 0) break;
    const char* const end = scratch + kept + size;
    const char* const rest = find_line(scratch, end, address, found);
    if (found.bounds.high != 0) break;
    if (rest == scratch && end == scratch + kMapsScratchSize) break;  // a line of 4 KiB: nobody's stack
    kept = 0;
    for (const char* at = rest; at < end; ++at) scratch[kept++] = *at;
  }
  return found;
}

Mapping find_mapping(std::uint64_t address, char* scratch) noexcept {
  // Not /proc/self, which shows no memory once the first thread is gone.
  const long file = cpu::kernel_call(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return {};
  const Mapping mapping = find_mapping(static_cast<int>(file), address, scratch);
  (void)cpu::kernel_call(SYS_close, file);
  return mapping;
}

// What the main thread's stack may grow to.
std::uint64_t main_stack_low(const StackBounds& now) noexcept {
  rlimit limit{};
  if (cpu::kernel_call(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit) != 0) return now.low;
  const std::uint64_t most = limit.rlim_cur < kMostMainStack ? limit.rlim_cur : kMostMainStack;
  const std::uint64_t low = now.high > most ? now.high - most : 0;
  return low < now.low ? low : now.low;
}

}  // namespace

StackBounds own_stack(std::uint64_t stack_pointer, char* scratch) noexcept {
  Mapping mapping = find_mapping(stack_pointer, scratch);
  if (mapping.is_main_stack) {
    mapping.bounds.low = main_stack_low(mapping.bounds);
    return mapping.bounds;
  }
  // What libc keeps of a thread lies at the top of the thread's stack: another mapping may lie directly
  // above.
  const std::uint64_t top = (cpu::thread_pointer() + kPageSize - 1) & ~(kPageSize - 1);
  if (stack_pointer >= top || top <= mapping.bounds.low || top > mapping.bounds.high) return {};
  mapping.bounds.high = top;
  return mapping.bounds;
}

StackBounds mapping_around(std::uint64_t address, char* scratch) noexcept {
  return find_mapping(address, scratch).bounds;
}

bool is_in_code(std::uint64_t address, char* scratch) noexcept {
  return find_mapping(address, scratch).is_code;
}

StackBounds signal_stack() noexcept {
  stack_t stack{};
  if (cpu::kernel_call(SYS_sigaltstack, nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) != 0)
    return {};
  const auto low = reinterpret_cast<std::uint64_t>(stack.ss_sp);
  return {low, low + stack.ss_size};
}

}  // namespace jitquill::lanes
