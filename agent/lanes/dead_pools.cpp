#include "agent/lanes/dead_pools.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "agent/base/counters.hpp"
#include "agent/base/folder_entries.hpp"
#include "agent/base/folders.hpp"
#include "agent/base/start_time.hpp"
#include "agent/base/this_machine.hpp"
#include "agent/lanes/lane_folder.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/lanes/pool_view.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::int64_t kKeptFor_s = 24 * 60 * 60;
// Not waiting for a writer, where somebody put a pipe.
constexpr int kToRead = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
constexpr int kMostRounds = 1000;  // one folder each

struct Dead {
  bool is_dead = false;   // and may be removed by us at all
  bool is_ended = false;  // nothing is in it that is not in the outputs
  std::int64_t newest_s = 0;
  std::uint64_t bytes = 0;
};

enum class Boot { kThis, kAnother, kUnknown };
Boot boot_of(const PoolHeader& header) noexcept {
  char boot_id[sizeof header.boot_id];
  this_machine::read_boot_id(boot_id);
  if (boot_id[0] == '\0' || header.boot_id[0] == '\0') return Boot::kUnknown;
  return std::memcmp(boot_id, header.boot_id, std::strlen(boot_id) + 1) == 0 ? Boot::kThis : Boot::kAnother;
}

// What the folder's files take, and when the last of them was written to.
void measure(int folder, Dead& dead) noexcept {
  for_each_entry(folder, ".", [&](const char* name) {
    struct stat status {};
    if (std::strcmp(name, LaneFolder::kLockName) == 0) return;  // whoever looks may have made it just now
    if (raw::call(SYS_newfstatat, folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    dead.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    dead.newest_s = std::max<std::int64_t>(dead.newest_s, status.st_mtim.tv_sec);
  });
}

std::int64_t now_s() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec;
}

void judge_by_age(int folder, Dead& dead) noexcept {
  struct stat status {};
  if (raw::status_of(folder, status) != 0) return;
  dead.is_dead = dead.is_ended = now_s() - status.st_mtim.tv_sec > kKeptFor_s;
}

// Without a whole header it was killed while it started, or while somebody removed it: it has no records, and
// time tells that it is dead.
void judge(int folder, Dead& dead) noexcept {
  const int file = raw::open_at(folder, Pool::kFileName, kToRead, 0);
  const long mapped = file < 0 ? file : raw::map(kLaneTableAt, PROT_READ, MAP_SHARED, file);
  struct stat status {};
  const bool is_whole = file >= 0 && raw::status_of(file, status) == 0 &&
                        static_cast<std::uint64_t>(status.st_size) >= kLaneTableAt && !raw::is_error(mapped);
  if (file >= 0) raw::close(file);
  const auto* const header = is_whole ? reinterpret_cast<const PoolHeader*>(mapped) : nullptr;
  if (header != nullptr && header->magic == kPoolMagic) {
    dead.is_dead = boot_of(*header) == Boot::kThis && life_of(*header) == Life::kDead;
    dead.is_ended = header->is_ended.load(std::memory_order_acquire) != 0;
  } else {
    judge_by_age(folder, dead);
  }
  if (!raw::is_error(mapped)) raw::unmap(reinterpret_cast<void*>(mapped), kLaneTableAt);
}

bool is_lane_folder(const char* name) noexcept {
  return name[0] >= '0' && name[0] <= '9';
}

// Calls `decide` with what is known of a folder that nobody else has; removes it if that says so.
template <class Decide>
void visit(int parent, const char* name, Decide decide) noexcept {
  const int folder = raw::open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) return;
  Dead dead;
  measure(folder, dead);
  judge(folder, dead);
  if (dead.is_dead) {
    const int lock = lock_lane_folder(folder);
    if (lock >= 0) {
      if (decide(dead)) {
        count(Counter::dead_pools_swept);
        if (!dead.is_ended) count(Counter::dead_pools_dropped);
        remove_lane_folder(parent, name);
      }
      raw::close(lock);
    }
  }
  raw::close(folder);
}

}  // namespace

int lock_lane_folder(int folder) noexcept {
  const int file =
      raw::open_at(folder, LaneFolder::kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return file;
  const long locked = raw::call(SYS_flock, file, LOCK_EX | LOCK_NB);
  if (locked == 0) return file;
  raw::close(file);
  return static_cast<int>(locked);
}

bool is_of_this_boot(const PoolHeader& header) noexcept {
  return boot_of(header) == Boot::kThis;
}

Life life_of(const PoolHeader& header) noexcept {
  if (boot_of(header) == Boot::kAnother) return Life::kDead;
  if (boot_of(header) == Boot::kUnknown || header.pid_namespace != this_machine::pid_namespace())
    return Life::kUnknown;
  if (raw::call(SYS_kill, header.pid, 0) == -ESRCH) return Life::kDead;
  const std::uint64_t start = process_start_ticks(header.pid);
  const bool is_later_one = start != 0 && start != header.start_time_ticks;
  return is_later_one || is_zombie(header.pid) ? Life::kDead : Life::kAlive;
}

void sweep_dead_pools(const char* parent_path, std::uint64_t most_bytes) noexcept {
  folders::Identity any;
  const int parent = folders::open(parent_path, any);
  if (parent < 0) return;
  const std::int64_t now = now_s();
  std::uint64_t kept = 0;
  const auto for_each_folder = [&](auto decide) {
    for_each_entry(parent, ".", [&](const char* name) {
      if (is_lane_folder(name)) visit(parent, name, decide);
    });
  };
  for_each_folder([&](const Dead& dead) {
    if (dead.is_ended || now - dead.newest_s > kKeptFor_s) return true;
    kept += dead.bytes;
    return false;
  });
  for (int round = 0; round < kMostRounds && kept > most_bytes; ++round) {
    std::int64_t oldest_s = INT64_MAX;
    for_each_folder([&](const Dead& dead) {
      oldest_s = std::min(oldest_s, dead.newest_s);
      return false;
    });
    if (oldest_s == INT64_MAX) break;
    bool is_removed = false;
    for_each_folder([&](const Dead& dead) {
      if (is_removed || dead.newest_s != oldest_s) return false;
      is_removed = true;
      kept -= std::min(kept, dead.bytes);
      return true;
    });
  }
  raw::close(parent);
}

}  // namespace jitquill::lanes
