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

// Of a process's line in /proc: pid (comm) state ppid ... The comm may have blanks and brackets in it.
struct Stat {
  char state = 0;  // 0: it could not be read
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // since boot
};

// As proc(5) counts them; the state is the 3rd.
std::int64_t field(std::string_view line, int number) noexcept {
  std::size_t at = line.rfind(')');
  for (int i = 2; i < number && at != line.npos; ++i) at = line.find(' ', at + 1);
  std::int64_t value = 0;
  if (at != line.npos) (void)std::from_chars(line.data() + at + 1, line.data() + line.size(), value);
  return value;
}

Stat read_stat(const char* path) noexcept {
  const int file = raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return {};
  char text[512];  // the fields are in the first 250 bytes
  const long size = raw::call(SYS_read, file, text, sizeof text);
  raw::close(file);
  if (size <= 0) return {};
  const std::string_view line(text, static_cast<std::size_t>(size));
  const std::size_t comm_end = line.rfind(')');
  if (comm_end == line.npos || line.size() - comm_end < 3) return {};
  return {line[comm_end + 2], field(line, 20), field(line, 22)};
}

Stat read_stat(std::uint32_t pid) noexcept {
  constexpr std::string_view kBefore = "/proc/", kBehind = "/stat";
  const Decimal number(pid);
  char path[kBefore.size() + 20 + kBehind.size() + 1] = {};
  char* at = path;
  for (const std::string_view part : {kBefore, number.view(), kBehind}) at += part.copy(at, part.size());
  return read_stat(path);
}

std::int64_t now_s(clockid_t clock) noexcept {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return now.tv_sec;
}

}  // namespace

// /proc/self has a time too, but that is when somebody looked first.
std::int64_t process_start_s() noexcept {
  const std::int64_t ticks = read_stat("/proc/self/stat").start_ticks;
  if (ticks == 0) return 0;
  return now_s(CLOCK_REALTIME) - now_s(CLOCK_BOOTTIME) + ticks / kTicksPerSecond - kSlack_s;
}

std::uint64_t process_start_ticks(std::uint32_t pid) noexcept {
  return static_cast<std::uint64_t>(read_stat(pid).start_ticks);
}

// Where its first thread alone has ended it is shown as a zombie too.
bool is_zombie(std::uint32_t pid) noexcept {
  const Stat stat = read_stat(pid);
  return (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

}  // namespace jitquill
