#include "writer/bytes/growth.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

Status refused_growth(long error) noexcept {
  take_caused_signal(error);
  const bool no_space = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
  return no_space ? Status::kNoSpace : Status::kWriteFailed;
}

void take_caused_signal(long error) noexcept {
  if (error != -EFBIG && error != -EPIPE) return;
  const std::uint64_t caused = std::uint64_t{1} << ((error == -EFBIG ? SIGXFSZ : SIGPIPE) - 1);
  const timespec at_once{};
  (void)raw::call(SYS_rt_sigtimedwait, &caused, nullptr, &at_once, sizeof caused);
}

}  // namespace jitquill
