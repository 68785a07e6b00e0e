#include "writer/perfmap/line.hpp"

#include <algorithm>
#include <charconv>

#include "writer/bytes/names.hpp"

namespace jitquill::perfmap {
namespace {

// perf 6.1 passes over lines whose names are shorter: a function called f would have none. It takes blanks at
// the end for a part of the name.
constexpr std::size_t kLeastNameSize = 3;
constexpr std::size_t kMostDigits = 16;

void put_hex(Bytes& out, std::uint64_t value) noexcept {
  char digits[kMostDigits];
  const char* const end = std::to_chars(digits, digits + kMostDigits, value, 16).ptr;
  out.raw(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

}  // namespace

bool put_line(Bytes& out, std::uint64_t start, std::uint64_t size, std::string_view name) noexcept {
  put_hex(out, start);
  out.u8(' ');
  put_hex(out, size);
  out.u8(' ');
  const std::size_t name_at = out.size();
  const bool is_changed = put_code_name(out, name, start);
  out.fill(' ', kLeastNameSize - std::min(kLeastNameSize, out.size() - name_at));
  out.u8('\n');
  return is_changed;
}

}  // namespace jitquill::perfmap
