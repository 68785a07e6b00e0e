#include "agent/intake/perfmap/perfmap.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "agent/base/own_thread.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/perfmap/follower.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace perfmap {
namespace {

constexpr long kMs = 1'000'000;
constexpr long kQuickest = 2 * kMs;  // while the file grows
constexpr long kSlowest = 20 * kMs;
constexpr long kBreath = kMs / 10;  // there is more: let those in who wait for the lock
constexpr std::size_t kStackSize = 256 * 1024;

// Under the intakes' lock.
struct State {
  Follower follower;
  std::uint32_t pid = 0;  // of the process that the follower and its thread are in
  bool has_thread = false;
};
constinit State g_state{};

bool is_wanted() noexcept {
  return (agent().wants().intakes & bit(Id::perfmap)) != 0 && wants_code();
}

// Not in a child of vfork, whose memory is its parent's.
bool may_follow() noexcept {
  const bool is_new = process_page().generation.load(std::memory_order_relaxed) == 0;
  return is_wanted() && (is_new || agent().is_here());
}

void sleep_for(long ns) noexcept {
  const timespec time{0, ns};
  (void)raw::call(SYS_nanosleep, &time, nullptr);
}

long next_wait(Follower::Progress progress, long wait) noexcept {
  if (progress == Follower::Progress::kMore) return kBreath;
  if (progress == Follower::Progress::kSome) return kQuickest;
  return std::min(std::max(wait, kQuickest) * 2, kSlowest);
}

void read_along() {
  (void)pthread_setname_np(pthread_self(), "jitquill");
  long wait = kQuickest;
  for (bool goes_on = true; goes_on;) {
    sleep_for(wait);
    (void)under_intake_lock([&] {
      goes_on = is_wanted() && g_state.follower.is_open();
      if (goes_on) wait = next_wait(g_state.follower.step(), wait);
      if (!goes_on) g_state.has_thread = false;
    });
  }
}

void look_a_last_time() {
  const bool is_here = g_state.pid == current_pid() && g_state.follower.is_open();
  if (is_here && is_wanted()) g_state.follower.last_step();
}

void start_following(const char* path) {
  const std::uint32_t pid = current_pid();
  if (g_state.pid != pid) g_state.has_thread = false;  // a child has none
  g_state.pid = pid;
  if (g_state.has_thread && g_state.follower.is_open()) (void)g_state.follower.step();  // of the file before
  // Code is dated back to here, but only what is mapped while there is a dump may be younger than its code
  // for perf.
  if (!is_done(open_outputs()) || !g_state.follower.open(path)) return;
  put_off(look_a_last_time);
  // Without it the last look finds what is still executable then.
  if (!g_state.has_thread) g_state.has_thread = start_own_thread(read_along, kStackSize);
}

// A map of this process's number in /tmp, by which it is told from others at another time.
struct MapSeen {
  std::uint64_t inode = 0;  // 0: there is none
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const MapSeen&) const = default;
};

using MapPath = TextLine<64>;

MapSeen look_at(const MapPath& path) noexcept {
  struct stat status {};
  const long result = raw::call(SYS_newfstatat, AT_FDCWD, path.view().data(), &status,
                                static_cast<long>(AT_SYMLINK_NOFOLLOW));
  const bool is_of_this_user = status.st_uid == static_cast<uid_t>(raw::call(SYS_geteuid));
  if (result != 0 || !S_ISREG(status.st_mode) || !is_of_this_user) return {};
  return {status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

constinit std::uint32_t g_looks = 0;  // at other objects than before
constinit std::uint32_t g_looked_pid = 0;
constinit MapSeen
    g_seen{};  // at the first look: an earlier process's, or what the program was before an exec

// A runtime that was loaded with RTLD_DEEPBIND opens its map unseen.
void look_for_map() {
  const std::uint32_t pid = current_pid();
  const bool is_followed = g_state.pid == pid && g_state.follower.is_open();
  if (!may_follow() || is_followed || agent().wants().map_in_tmp) return;
  MapPath path;
  path.text("/tmp/perf-").number(pid).text(".map").nul();
  const MapSeen seen = look_at(path);
  const bool is_first_look = std::exchange(g_looked_pid, pid) != pid;
  if (is_first_look) g_seen = seen;
  if (is_first_look || seen.inode == 0 || seen == g_seen) return;
  start_following(path.view().data());
}

// It may come some time after the library that writes it. Whose code is made in front of us opens its map
// there, too.
void look_for_late_map() {
  if (!makes_code()) look_for_map();
}

}  // namespace

void opened(const char* path) {
  if (!may_follow()) return;
  (void)under_intake_lock([&] { start_following(path); });
}

}  // namespace perfmap

// Asked of each object, and one is enough; what is looked for is a file.
bool look_for_perfmap(const ElfObject& object) {
  return object.path()[0] == '\0';
}
void start_perfmap() {
  perfmap::look_for_map();
  if (perfmap::g_looks++ == 1) follow({perfmap::look_for_late_map, [] {}});  // a library came
}

}  // namespace jitquill::intake
