// The lines of a file that is read from where its descriptor stands: of one that the kernel makes up (/proc).
//
// Context   [notify], [life]; raw system calls only.
// Does not  hand out a line that is longer than the buffer, or has no end.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "agent/base/text_pieces.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

// Calls see(line) for each, without its newline, until it returns true. False: it never did.
template <class See>
bool any_line(int descriptor, std::span<char> buffer, See see) noexcept {
  std::size_t filled = 0;
  bool is_passing_by = false;  // a line that is longer than the buffer
  for (;;) {
    const long got = raw::call(SYS_read, descriptor, buffer.data() + filled, buffer.size() - filled);
    if (got <= 0) return false;
    filled += static_cast<std::size_t>(got);
    std::string_view left(buffer.data(), filled);
    for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      if (!is_passing_by && see(first(left, end))) return true;
      is_passing_by = false;
      left = without_first(left, end + 1);
    }
    if (left.size() == buffer.size()) is_passing_by = true;
    filled = is_passing_by ? 0 : left.size();
    std::memmove(buffer.data(), left.data(), filled);
  }
}

}  // namespace jitquill
