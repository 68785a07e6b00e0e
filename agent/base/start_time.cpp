#include "agent/base/start_time.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "writer/bytes/decimal.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::int64_t kTicksPerSecond = 100;  // USER_HZ of x86-64, whatever the kernel's own is
constexpr std::int64_t kSlack_s = 2;           // whole seconds are counted, and file times lag by a tick

// pid (comm) state ppid ...: the 22nd field, in ticks since boot. The comm may have blanks and brackets in
// it.
std::int64_t start_field(std::string_view line) noexcept {
  constexpr int kFieldsBehindComm = 20;  // state is the 3rd
  std::size_t at = line.rfind(')');
  for (int field = 0; field < kFieldsBehindComm && at != line.npos; ++field) at = line.find(' ', at + 1);
  std::int64_t ticks = 0;
  if (at != line.npos) (void)std::from_chars(line.data() + at + 1, line.data() + line.size(), ticks);
  return ticks;
}

std::int64_t start_ticks(const char* stat_path) noexcept {
  const int file = raw::open_at(AT_FDCWD, stat_path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  char text[512];  // the field is in the first 250 bytes
  const long size = raw::call(SYS_read, file, text, sizeof text);
  raw::close(file);
  return size <= 0 ? 0 : start_field({text, static_cast<std::size_t>(size)});
}

std::int64_t now_s(clockid_t clock) noexcept {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return now.tv_sec;
}

}  // namespace

// /proc/self has a time too, but that is when somebody looked first.
std::int64_t process_start_s() noexcept {
  const std::int64_t ticks = start_ticks("/proc/self/stat");
  if (ticks == 0) return 0;
  return now_s(CLOCK_REALTIME) - now_s(CLOCK_BOOTTIME) + ticks / kTicksPerSecond - kSlack_s;
}

std::uint64_t process_start_ticks(std::uint32_t pid) noexcept {
  constexpr std::string_view kBefore = "/proc/", kBehind = "/stat";
  const Decimal number(pid);
  char path[kBefore.size() + 20 + kBehind.size() + 1] = {};
  char* at = path;
  for (const std::string_view part : {kBefore, number.view(), kBehind}) at += part.copy(at, part.size());
  return static_cast<std::uint64_t>(start_ticks(path));
}

}  // namespace jitquill
