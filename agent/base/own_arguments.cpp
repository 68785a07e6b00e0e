#include "agent/base/own_arguments.hpp"

#include <fcntl.h>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

void put_own_arguments(Bytes& out, std::size_t most) noexcept {
  const int file = raw::open_at(AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  while (std::uint8_t* const room = most != 0 ? out.reserve(most) : nullptr) {
    const long size = raw::call(SYS_read, file, room, most);
    if (size <= 0) break;
    out.put_up_to(Cursor(room + size));
    most -= static_cast<std::size_t>(size);
  }
  raw::close(file);
}

}  // namespace jitquill
