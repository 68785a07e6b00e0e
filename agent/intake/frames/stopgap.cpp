#include "agent/intake/frames/stopgap.hpp"

#include <fcntl.h>

#include <utility>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/told.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::frames {
namespace {

constexpr std::size_t kRoom = 8192;

}  // namespace

bool Stopgaps::is_code(std::uint64_t address, std::uint64_t size) noexcept {
  if (memory_.has(address, size)) return true;
  if (std::exchange(has_looked_, true)) return false;
  count(Counter::frames_looks);
  intake::Block room(kRoom);
  const int maps = room ? raw::open_at(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0) : -1;
  if (maps < 0) return false;
  memory_.refresh(maps, room);
  raw::close(maps);
  return memory_.has(address, size);
}

void Stopgaps::tell(std::uint64_t address, std::uint64_t size, std::uint64_t since_ns) {
  CodeLoad load;
  load.address = address;
  load.bytes = {reinterpret_cast<const std::uint8_t*>(address), static_cast<std::size_t>(size)};
  if (!is_code(address, size) || !can_read_ends(load.bytes)) return count(Counter::frames_no_code);
  load.since_ns = since_ns;
  load.is_stopgap = true;
  (void)intake::tell_load(load);
}

}  // namespace jitquill::frames
