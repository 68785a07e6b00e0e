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

// The kernel takes up to 1,024 at once; this many fit on any stack.
constexpr std::size_t kPiecesAtOnce = 128;

// How many pieces from the front could be read whole.
std::size_t read_pieces(std::span<const CopyPiece> pieces) noexcept {
  iovec local[kPiecesAtOnce];
  iovec remote[kPiecesAtOnce];
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {pieces[i].to, pieces[i].size};
    remote[i] = {const_cast<void*>(pieces[i].from), pieces[i].size};
  }
  long left = raw::call(SYS_process_vm_readv, raw::call(SYS_getpid), local, pieces.size(), remote,
                        pieces.size(), 0UL);
  std::size_t whole = 0;
  while (whole < pieces.size() && left >= static_cast<long>(pieces[whole].size))
    left -= static_cast<long>(pieces[whole++].size);
  return whole;
}

std::size_t to_end_of_page(const std::uint8_t* at) noexcept {
  return kPageSize - (reinterpret_cast<std::uint64_t>(at) & (kPageSize - 1));
}

}  // namespace

// Here and below: addresses, not pointers. What is not to be trusted may be null, or lead around the end of
// the address space.
bool can_read_ends(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.empty()) return true;
  const auto last = reinterpret_cast<std::uint64_t>(bytes.data()) + bytes.size() - 1;
  std::uint8_t byte;
  return read_some(bytes.data(), &byte, 1) == 1 &&
         read_some(reinterpret_cast<const std::uint8_t*>(last), &byte, 1) == 1;
}

bool safe_copy(std::span<const std::uint8_t> from, std::uint8_t* to, std::uint8_t filler) noexcept {
  bool is_whole = true;
  auto at = reinterpret_cast<std::uint64_t>(from.data());
  for (std::size_t left = from.size(); left != 0;) {
    const auto* const here = reinterpret_cast<const std::uint8_t*>(at);
    std::size_t count = read_some(here, to, left);
    if (count == 0) {  // the page at the front; also where a seccomp filter forbids the call
      count = std::min(left, to_end_of_page(here));
      std::memset(to, filler, count);
      is_whole = false;
    }
    at += count;
    to += count;
    left -= count;
  }
  return is_whole;
}

bool copy_whole(std::span<const std::uint8_t> from, std::uint8_t* to) noexcept {
  auto at = reinterpret_cast<std::uint64_t>(from.data());
  for (std::size_t left = from.size(); left != 0;) {
    const std::size_t count = read_some(reinterpret_cast<const std::uint8_t*>(at), to, left);
    if (count == 0) return false;
    at += count;
    to += count;
    left -= count;
  }
  return true;
}

bool safe_copy(std::span<const CopyPiece> pieces, std::uint8_t filler) noexcept {
  bool is_whole = true;
  while (!pieces.empty()) {
    const auto some = pieces.first(std::min(pieces.size(), kPiecesAtOnce));
    const std::size_t whole = read_pieces(some);
    pieces = pieces.subspan(whole);
    if (whole == some.size()) continue;
    const CopyPiece& broken = pieces.front();
    is_whole &= safe_copy({static_cast<const std::uint8_t*>(broken.from), broken.size},
                          static_cast<std::uint8_t*>(broken.to), filler);
    pieces = pieces.subspan(1);
  }
  return is_whole;
}

}  // namespace jitquill
