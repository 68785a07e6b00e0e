#include "agent/base/safe_copy.hpp"

#include <sys/uio.h>
#include <algorithm>
#include <cstring>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint64_t kPageSize = 4096;

// How many bytes from the front could be read.
std::size_t read_some(const std::uint8_t* from, std::uint8_t* to, std::size_t size) noexcept {
  const iovec local{to, size};
  const iovec remote{const_cast<std::uint8_t*>(from), size};
  const long count = raw::call(SYS_process_vm_readv, raw::call(SYS_getpid), &local, 1UL, &remote, 1UL, 0UL);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::size_t to_end_of_page(const std::uint8_t* at) noexcept {
  return kPageSize - (reinterpret_cast<std::uint64_t>(at) & (kPageSize - 1));
}

}  // namespace

bool safe_copy(std::span<const std::uint8_t> from, std::uint8_t* to, std::uint8_t filler) noexcept {
  bool is_whole = true;
  while (!from.empty()) {
    std::size_t count = read_some(from.data(), to, from.size());
    if (count == 0) {  // the page at the front; also where a seccomp filter forbids the call
      count = std::min(from.size(), to_end_of_page(from.data()));
      std::memset(to, filler, count);
      is_whole = false;
    }
    from = from.subspan(count);
    to += count;
  }
  return is_whole;
}

}  // namespace jitquill
