#include "agent/drain/dead_pool.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {
namespace {

// What a small file of /proc says; empty if it cannot be read.
std::string_view read_small(const char* path, std::span<char> room) noexcept {
  const int file = raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return {};
  const long size = raw::call(SYS_read, file, room.data(), room.size());
  raw::close(file);
  return size <= 0 ? std::string_view{} : std::string_view(room.data(), static_cast<std::size_t>(size));
}

bool is_this_boot(const lanes::PoolHeader& pool) noexcept {
  char room[64];
  const std::string_view now = read_small("/proc/sys/kernel/random/boot_id", room);
  constexpr std::size_t kSize = 36;
  return now.size() < kSize || std::memcmp(now.data(), pool.boot_id, kSize) == 0;
}

std::uint64_t own_namespace() noexcept {
  struct stat status {};
  const long got = raw::call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &status, 0);
  return got < 0 ? 0 : status.st_ino;
}

// The 22nd field: behind the command's closing bracket, which may itself have brackets and blanks in it.
std::uint64_t start_ticks_of(std::uint32_t pid) noexcept {
  constexpr int kFieldsBehindComm = 20;
  char room[512];
  TextLine<40> path;
  path.text("/proc/").number(pid).text("/stat");
  char name[40] = {};
  path.view().copy(name, sizeof name - 1);
  const std::string_view line = read_small(name, room);
  std::size_t at = line.rfind(')');
  for (int field = 0; field < kFieldsBehindComm && at != line.npos; ++field) at = line.find(' ', at + 1);
  std::uint64_t ticks = 0;
  if (at != line.npos) (void)std::from_chars(line.data() + at + 1, line.data() + line.size(), ticks);
  return ticks;
}

}  // namespace

DeadPool::~DeadPool() {
  if (!bytes_.empty()) (void)raw::unmap(bytes_.data(), bytes_.size());
}

bool DeadPool::open(int folder) noexcept {
  const int file = raw::open_at(folder, "lanes", O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (file < 0) return false;
  struct stat status {};
  const bool is_large = raw::status_of(file, status) == 0 && S_ISREG(status.st_mode) &&
                        static_cast<std::uint64_t>(status.st_size) >= lanes::kChunksAt;
  const auto size = static_cast<std::size_t>(status.st_size);
  const long mapped = is_large ? raw::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, file) : -1;
  raw::close(file);
  if (raw::is_error(mapped)) return false;
  bytes_ = {reinterpret_cast<std::uint8_t*>(mapped), size};
  return header().magic == lanes::kPoolMagic && header().version == lanes::kPoolVersion;
}

Life life_of(const lanes::PoolHeader& pool) noexcept {
  if (!is_this_boot(pool)) return Life::kDead;
  if (pool.pid_namespace != own_namespace()) return Life::kUnknown;
  return start_ticks_of(pool.pid) == pool.start_time_ticks && pool.start_time_ticks != 0 ? Life::kAlive
                                                                                         : Life::kDead;
}

}  // namespace jitquill::drain
