#include "agent/base/high_descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr rlim_t kHighest = 1024;  // a higher number would make the kernel grow the table by megabytes
constexpr int kSpare = 16;
constexpr int kStandardError = 2;

}  // namespace

int moved_high(int descriptor) noexcept {
  rlimit limit{};
  (void)raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit);
  const auto top = static_cast<int>(std::min(limit.rlim_cur, kHighest));
  const long high = raw::call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, std::max(top - kSpare, 3));
  if (high < 0 && descriptor > kStandardError) return descriptor;  // none free up there
  raw::close(descriptor);  // what the host prints must not land in our file
  return static_cast<int>(high);
}

}  // namespace jitquill
