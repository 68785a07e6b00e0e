#include "agent/lanes/twin_space.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cerrno>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint64_t kSlot = 256;  // twins are multiples of it, so that freed ones fit again
constexpr std::uint64_t kRegionSize = std::uint64_t{16} << 20;
constexpr std::uint64_t kReach = std::uint64_t{2} << 30;  // tables hold signed 32-bit distances
constexpr std::uint64_t kLowest = std::uint64_t{1} << 20;

constexpr std::uint64_t rounded_up(std::uint64_t size, std::uint64_t to) noexcept {
  return (size + to - 1) / to * to;
}

bool is_below(std::uint64_t twin, std::uint64_t size, std::uint64_t code) noexcept {
  return twin + size <= code && code - twin < kReach;
}

// 0, or -errno.
long map_at(std::uint64_t address, std::uint64_t size) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const long mapped =
      raw::call(SYS_mmap, address, size, static_cast<long>(PROT_NONE), static_cast<long>(flags), -1L, 0L);
  if (raw::is_error(mapped)) return mapped;
  if (static_cast<std::uint64_t>(mapped) == address) return 0;
  raw::unmap(reinterpret_cast<void*>(mapped), size);  // before Linux 4.17 the flag is only a hint
  return -EEXIST;
}

}  // namespace

std::uint64_t TwinSpace::take_freed(std::uint64_t code_address, std::uint64_t size) noexcept {
  for (std::size_t i = 0; i < freed_count_; ++i) {
    if (freed_[i].size != size || !is_below(freed_[i].start, size, code_address)) continue;
    const std::uint64_t start = freed_[i].start;
    freed_[i] = freed_[--freed_count_];
    return start;
  }
  return 0;
}

// Beside a place where nothing was free, by one system call for each step, there will be nothing either.
bool TwinSpace::is_refused(std::uint64_t top, std::uint64_t region_size) noexcept {
  constexpr std::uint64_t kNear = kReach / 16;
  const std::uint64_t distance = top < refused_.start ? refused_.start - top : top - refused_.start;
  if (asks_left_ == 0 || distance > kNear || region_size < refused_.size) return false;
  --asks_left_;
  return true;
}

// The nearest free place below the code, in steps of a region.
bool TwinSpace::reserve(std::uint64_t code_address, std::uint64_t size) noexcept {
  if (region_count_ == kRegions) return false;
  const std::uint64_t region_size = rounded_up(size, kRegionSize);
  const std::uint64_t top = code_address & ~(kRegionSize - 1);
  if (is_refused(top, region_size)) return false;
  for (std::uint64_t below = region_size; below + kRegionSize < kReach && below + kLowest < top;
       below += kRegionSize) {
    const long mapped = map_at(top - below, region_size);
    if (mapped == -ENOMEM) return false;  // the process is at its limit, wherever we ask
    if (mapped != 0) continue;
    regions_[region_count_++] = {top - below, region_size};
    return true;
  }
  refused_ = {top, region_size};
  asks_left_ = kAsksBetween;
  return false;
}

std::uint64_t TwinSpace::take(std::uint64_t code_address, std::uint64_t size) noexcept {
  size = rounded_up(size, kSlot);
  if (const std::uint64_t freed = take_freed(code_address, size); freed != 0) return freed;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (std::size_t i = region_count_; i-- > 0;) {  // the newest is the likeliest
      Range& region = regions_[i];
      if (region.size < size || !is_below(region.start, size, code_address)) continue;
      const std::uint64_t start = region.start;
      region.start += size;
      region.size -= size;
      return start;
    }
    if (!reserve(code_address, size)) return 0;
  }
  return 0;
}

void TwinSpace::give_back(std::uint64_t twin_address, std::uint64_t size) noexcept {
  if (freed_count_ == kFreed) return;
  freed_[freed_count_++] = {twin_address, rounded_up(size, kSlot)};
}

}  // namespace jitquill
