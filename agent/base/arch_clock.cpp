#include "agent/base/arch_clock.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::arch_clock {
namespace {

constexpr std::size_t kPageSize = 4096;

// What the kernel says in the page of any event of ours.
const char* trouble_of(int event) noexcept {
  const long mapped = raw::map(kPageSize, PROT_READ, MAP_SHARED, event);
  if (raw::is_error(mapped)) return "the kernel's perf page cannot be mapped";
  const auto* page = reinterpret_cast<const perf_event_mmap_page*>(mapped);
  const bool converts = page->cap_user_time_zero != 0;
  raw::unmap(reinterpret_cast<void*>(mapped), kPageSize);
  return converts ? nullptr
                  : "the kernel cannot convert the CPU's counter here (no cap_user_time_zero: a virtual "
                    "machine, or a clock other than TSC)";
}

}  // namespace

std::uint64_t ticks() noexcept {
  return __rdtsc();
}

const char* trouble() noexcept {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  attributes.disabled = 1;
  const long event = raw::call(SYS_perf_event_open, &attributes, 0, -1, -1,
                               static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (event < 0)
    return "perf events are not allowed in this process, so nobody can tell whether the kernel converts the "
           "CPU's counter";
  const char* why = trouble_of(static_cast<int>(event));
  raw::close(static_cast<int>(event));
  return why;
}

}  // namespace jitquill::arch_clock
