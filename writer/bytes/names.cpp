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

// Of eight characters at once, since names are put for every function. True for all that have a control
// character, and for a few that have none: a borrow or a carry may reach a good byte.
bool may_have_control(const char* eight) noexcept {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 255, kHighs = kOnes * 0x80;
  std::uint64_t word;
  std::memcpy(&word, eight, sizeof word);
  const std::uint64_t below_space = word - kOnes * 0x20;  // high bit, unless it was there before
  const std::uint64_t is_delete = word + kOnes;           // as above
  return ((below_space | is_delete) & ~word & kHighs) != 0;
}

// How many bytes at the front are no control characters.
std::size_t count_good(std::string_view name) noexcept {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::size_t at = 0;
  while (at + kWord <= name.size() && !may_have_control(name.data() + at)) at += kWord;
  const bool is_tail = at != 0 && at + kWord > name.size();
  if (is_tail && !may_have_control(name.data() + name.size() - kWord)) return name.size();
  while (at < name.size() && !is_control(name[at])) ++at;
  return at;
}

// As put_clean(), of a name that has to be changed or is too long.
[[gnu::noinline]] bool put_changed(Bytes& out, std::string_view name) noexcept {
  std::string_view rest = first_characters(name.substr(0, name.find('\0')), kMaxNameSize);
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

}  // namespace

// Where there are more continuation bytes than a character can have, any place is as good.
std::string_view first_characters(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end != 0 && most - end <= kMaxContinuationBytes && is_continuation(text[end])) --end;
  return {text.data(), is_continuation(text[end]) ? most : end};
}

bool put_clean(Bytes& out, std::string_view name) noexcept {
  if (name.size() > kMaxNameSize || count_good(name) != name.size()) return put_changed(out, name);
  out.raw(name);
  return false;
}

bool put_code_name(Bytes& out, std::string_view name, std::uint64_t address) noexcept {
  if (!name.empty() && name.front() != '\0') return put_clean(out, name);
  char digits[16];
  const char* const end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
  out.raw(std::string_view("jit_")).raw(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  return !name.empty();
}

}  // namespace jitquill
