#include "agent/life/process_start.hpp"

#include <fcntl.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "agent/base/clock.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' ||
         c == '-';
}

template <std::size_t kCapacity>
void note_variable(FixedText<kCapacity>& to, const char* name) noexcept {
  const char* value = ::secure_getenv(name);
  if (value != nullptr && value[0] == '/') (void)to.set(value);
}

char* put_digits(char* at, unsigned value, int digits) noexcept {
  for (int i = digits; i-- > 0; value /= 10) at[i] = static_cast<char>('0' + value % 10);
  return at + digits;
}

}  // namespace

void ProcessStart::note() noexcept {
  noted_ns_ = monotonic_ns();
  note_command(folder_, sizeof folder_);
  const long size = raw::call(SYS_getcwd, folder_, sizeof folder_);
  if (size <= 0 || folder_[0] != '/') folder_[0] = '\0';  // unreachable: "(unreachable)/..."
  note_variable(runtime_dir_, "XDG_RUNTIME_DIR");
  note_variable(home_, "HOME");
  note_variable(run_list_, "JITQUILL_RUN_LIST");
  note_time();
}

void ProcessStart::note_command(char* path, std::size_t room) noexcept {
  const long length = raw::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, room);
  std::string_view name = length > 0 ? std::string_view(path, static_cast<std::size_t>(length)) : "unknown";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  name = name.substr(0, sizeof command_ - 1);
  std::transform(name.begin(), name.end(), command_, [](char c) { return is_plain(c) ? c : '_'; });
}

// Not gmtime(), which takes locks of the host.
void ProcessStart::note_time() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  const std::chrono::sys_seconds second{std::chrono::seconds(now.tv_sec)};
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const auto of_day = static_cast<unsigned>((second - day).count());
  char* at = put_digits(time_, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  at = put_digits(at, static_cast<unsigned>(date.month()), 2);
  at = put_digits(at, static_cast<unsigned>(date.day()), 2);
  *at++ = '-';
  at = put_digits(at, of_day / 3600, 2);
  at = put_digits(at, of_day / 60 % 60, 2);
  (void)put_digits(at, of_day % 60, 2);
}

}  // namespace jitquill
