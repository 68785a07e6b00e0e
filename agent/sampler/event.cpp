#include "agent/sampler/event.hpp"

#include <ctime>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::uint64_t mask_of_registers() noexcept {
  std::uint64_t mask = 0;
  for (const KernelRegister& one : kRegisters) mask |= std::uint64_t{1} << one.kernel;
  return mask;
}

}  // namespace

void Event::count_by_clock() noexcept {
  attributes_.type = PERF_TYPE_SOFTWARE;
  attributes_.config = PERF_COUNT_SW_CPU_CLOCK;
}

// Nobody sleeps on a ring, so the kernel need not wake anybody: only once in a whole ring, which is the least
// that it can be told. Fork records: they say which threads were made by one that was sampled already.
void Event::set(const Wish& wish, std::uint32_t ring_bytes) noexcept {
  attributes_ = {};
  attributes_.size = sizeof attributes_;
  attributes_.type = PERF_TYPE_HARDWARE;
  attributes_.config = PERF_COUNT_HW_CPU_CYCLES;
  if (!wish.by_cycles) count_by_clock();
  attributes_.freq = 1;
  attributes_.sample_freq = wish.hz;
  attributes_.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                            PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER;
  attributes_.sample_regs_user = mask_of_registers();
  if (wish.stack_bytes != 0) attributes_.sample_type |= PERF_SAMPLE_STACK_USER;
  attributes_.sample_stack_user = wish.stack_bytes;
  attributes_.read_format = PERF_FORMAT_LOST;
  attributes_.inherit = 1;
  attributes_.inherit_thread = 1;
  attributes_.task = 1;
  attributes_.exclude_hv = 1;
  attributes_.use_clockid = 1;
  attributes_.clockid = CLOCK_MONOTONIC;
  attributes_.watermark = 1;
  attributes_.wakeup_watermark = ring_bytes;
  has_no_cycles_ = false;
}

// Without PERF_FORMAT_LOST (before Linux 6.0) losses that no sample follows are not known. Without
// inherit_thread (before Linux 5.13) the events go to child processes too, whose samples are told by their
// pid.
bool Event::take_less(int error) noexcept {
  const bool is_refused = error == -EACCES || error == -EPERM;
  if (is_refused && attributes_.exclude_kernel == 0) {
    attributes_.exclude_kernel = 1;
    return true;
  }
  if (error == -EINVAL && attributes_.read_format != 0) {
    attributes_.read_format = 0;
    return true;
  }
  if (error == -EINVAL && attributes_.inherit_thread != 0) {
    attributes_.inherit_thread = 0;
    return true;
  }
  const bool has_no_counter = error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV;
  if (!has_no_counter || attributes_.type == PERF_TYPE_SOFTWARE) return false;
  count_by_clock();
  return has_no_cycles_ = true;
}

// 0: it has none.
std::uint64_t Event::id_of(int event) noexcept {
  std::uint64_t id = 0;
  (void)raw::call(SYS_ioctl, event, PERF_EVENT_IOC_ID, &id);
  return id;
}

std::uint64_t Event::end(int event) const noexcept {
  struct {
    std::uint64_t count;
    std::uint64_t lost;
  } values{};
  (void)raw::call(SYS_ioctl, event, PERF_EVENT_IOC_DISABLE, 0);
  const long size = attributes_.read_format == 0 ? 0 : raw::call(SYS_read, event, &values, sizeof values);
  return size == sizeof values ? values.lost : 0;
}

int Event::open(std::uint32_t tid, std::uint32_t cpu) noexcept {
  for (;;) {
    const long opened = raw::call(SYS_perf_event_open, &attributes_, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (opened >= 0 || !take_less(static_cast<int>(opened))) return static_cast<int>(opened);
  }
}

}  // namespace jitquill::sampler
