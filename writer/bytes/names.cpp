#include "writer/bytes/names.hpp"

#include <algorithm>
#include <charconv>

namespace jitquill {
namespace {

constexpr std::size_t kMaxContinuationBytes = 3;  // of one UTF-8 character

bool is_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// The longest allowed beginning. Where there are more continuation bytes than a character can have, it is
// not UTF-8 and any place is as good.
std::string_view cut_to_limit(std::string_view name) noexcept {
  if (name.size() <= kMaxNameSize) return name;
  std::size_t end = kMaxNameSize;
  while (kMaxNameSize - end <= kMaxContinuationBytes && is_continuation(name[end])) --end;
  return name.substr(0, is_continuation(name[end]) ? kMaxNameSize : end);
}

}  // namespace

bool put_clean(Bytes& out, std::string_view name) noexcept {
  std::string_view rest = cut_to_limit(name.substr(0, name.find('\0')));
  bool changed = rest.size() != name.size();
  while (!rest.empty()) {
    const auto control = std::find_if(rest.begin(), rest.end(), is_control);
    const auto good = static_cast<std::size_t>(control - rest.begin());
    out.raw(rest.substr(0, good));
    rest.remove_prefix(good);
    if (rest.empty()) break;
    out.u8('?');
    rest.remove_prefix(1);
    changed = true;
  }
  return changed;
}

bool put_code_name(Bytes& out, std::string_view name, std::uint64_t address) noexcept {
  if (!name.empty() && name.front() != '\0') return put_clean(out, name);
  char digits[16];
  const char* const end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
  out.raw(std::string_view("jit_")).raw(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  return !name.empty();
}

}  // namespace jitquill
