#include "writer/bytes/names.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>

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

// How many bytes at the front are no control characters. Eight at a time: names are put for every function.
std::size_t count_good(std::string_view name) noexcept {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 255, kHighs = kOnes * 0x80;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= name.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, name.data() + at, sizeof word);
    const std::uint64_t not_delete = word ^ kOnes * 0x7F;  // 0x7F becomes 0
    const std::uint64_t below_space = (word - kOnes * 0x20) & ~word;
    const std::uint64_t is_zero = (not_delete - kOnes) & ~not_delete;
    if (((below_space | is_zero) & kHighs) != 0) break;  // perhaps: a borrow may reach a good byte
  }
  while (at < name.size() && !is_control(name[at])) ++at;
  return at;
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
    const std::size_t good = count_good(rest);
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
