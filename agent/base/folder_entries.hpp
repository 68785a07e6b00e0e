// The names in a folder, without opendir(), which allocates.
//
// Context   [life]; raw system calls only, 1 KiB of stack.
#pragma once

#include <fcntl.h>

#include <cstring>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

// Calls `visit` with each name in the folder at `path` below `directory`, "." and ".." left out. What is
// removed or made meanwhile may or may not be among them. Nothing is visited where it cannot be read.
template <class Visit>
void for_each_entry(int directory, const char* path, Visit visit) noexcept {
  struct Entry {
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];  // NUL-terminated
  };
  const int folder = raw::open_at(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) return;
  alignas(Entry) char entries[1024];
  for (;;) {
    const long size = raw::call(SYS_getdents64, folder, entries, sizeof entries);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const Entry*>(entries + at);
      at += entry->size;
      const char* const name = entry->name;
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) visit(name);
    }
  }
  raw::close(folder);
}

}  // namespace jitquill
