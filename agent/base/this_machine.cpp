#include "agent/base/this_machine.hpp"

#include <fcntl.h>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::this_machine {

void read_boot_id(char (&text)[40]) noexcept {
  text[0] = '\0';
  const int file = raw::open_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  long size = raw::call(SYS_read, file, text, sizeof text - 1);
  raw::close(file);
  while (size > 0 && text[size - 1] == '\n') --size;
  text[size > 0 ? size : 0] = '\0';
}

std::uint64_t pid_namespace() noexcept {
  struct stat status {};
  const long found = raw::call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &status, 0);
  return found == 0 ? status.st_ino : 0;
}

}  // namespace jitquill::this_machine
