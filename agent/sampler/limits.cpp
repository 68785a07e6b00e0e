#include "agent/sampler/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "agent/base/error_words.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::int64_t kUnknown = -100;

// Of one number.
std::int64_t setting(const char* path) noexcept {
  const int file = raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return kUnknown;
  char text[32];
  const long size = raw::call(SYS_read, file, text, sizeof text);
  raw::close(file);
  std::int64_t value = kUnknown;
  if (size > 0) (void)std::from_chars(text, text + size, value);
  return value;
}

std::int64_t paranoia() noexcept {
  return setting("/proc/sys/kernel/perf_event_paranoid");
}

void put_setting(std::int64_t value, Message& line) noexcept {
  if (value == kUnknown) return (void)line.text("unknown");
  if (value < 0) line.text("-");
  line.number(static_cast<std::uint64_t>(value < 0 ? -value : value));
}

std::uint64_t limit_of(int resource) noexcept {
  rlimit limit{};
  (void)raw::call(SYS_prlimit64, 0, resource, nullptr, &limit);
  return limit.rlim_cur;
}

// From 3 on, which Debian and its kin have, users may not open any.
void put_no_permission(Message& line) noexcept {
  constexpr std::int64_t kMostForUsers = 2;
  const std::int64_t paranoid = paranoia();
  if (paranoid <= kMostForUsers)
    return (void)line.text(
        "perf events are forbidden here, as by a container's seccomp profile: let perf_event_open through, "
        "or "
        "give CAP_PERFMON");
  line.text("kernel.perf_event_paranoid is ");
  put_setting(paranoid, line);
  line.text(", which keeps perf events from users: sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON");
}

void put_no_rate(const Wish& wish, Message& line) noexcept {
  line.text("the kernel takes no sample=").number(wish.hz).text(": kernel.perf_event_max_sample_rate is ");
  put_setting(setting("/proc/sys/kernel/perf_event_max_sample_rate"), line);
  line.text("; ask for less, or raise that by sysctl");
}

void put_no_locked_memory(Message& line) noexcept {
  constexpr std::uint64_t kKiB = 1024;
  line.text("no more memory may be locked for rings: kernel.perf_event_mlock_kb is ");
  put_setting(setting("/proc/sys/kernel/perf_event_mlock_kb"), line);
  line.text(" a CPU for all processes of this user, and RLIMIT_MEMLOCK lets this one have ");
  line.number(limit_of(RLIMIT_MEMLOCK) / kKiB);
  line.text(" KiB more; raise either (sysctl, ulimit -l), or take less of each stack: sample.stack=");
}

}  // namespace

void put_cause(const Refusal& refusal, const Wish& wish, Message& line) noexcept {
  const bool is_open = refusal.call == Refusal::Call::kOpen;
  switch (-refusal.error) {
    case EACCES:
    case EPERM:
      return is_open ? put_no_permission(line) : put_no_locked_memory(line);
    case EINVAL:
      if (is_open) return put_no_rate(wish, line);
      break;
    case ENOSYS:
      return (void)line.text("this kernel has no perf events");
    case ETOOMANYREFS:
      line.text(
          "those that were there before sampling began need more events than may be kept: RLIMIT_NOFILE is ");
      line.number(limit_of(RLIMIT_NOFILE));
      return (void)line.text(
          " (ulimit -n); JITQUILL_OPTIONS from the environment begins before there are threads");
    case EMFILE:
      line.text("no descriptor is free: RLIMIT_NOFILE is ").number(limit_of(RLIMIT_NOFILE));
      return (void)line.text(" (ulimit -n)");
    case ENOMEM:
      if (is_open) break;
      return (void)line.text("no address space is left for rings (ulimit -v, sysctl vm.max_map_count)");
    default:
      break;
  }
  line.text(error_words(refusal.error));
}

void put_blindness(Message& line) noexcept {
  line.text("the program is not seen while the kernel runs for it: kernel.perf_event_paranoid is ");
  put_setting(paranoia(), line);
  line.text(" (1, or CAP_PERFMON, permits it)");
}

}  // namespace jitquill::sampler
