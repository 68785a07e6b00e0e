#include "writer/bytes/utf8.hpp"

#include <cstdint>

namespace jitquill {
namespace {

struct Form {
  std::uint8_t first_low, first_high;    // of the first byte
  std::uint8_t second_low, second_high;  // others are 0x80..0xBF
  std::uint8_t size;
};

// The Unicode Standard, table 3-7.
constexpr Form kForms[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

constexpr bool is_in(char c, std::uint8_t low, std::uint8_t high) noexcept {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= low && byte <= high;
}

bool has_form(std::string_view text, const Form& form) noexcept {
  if (text.size() < form.size || !is_in(text[0], form.first_low, form.first_high)) return false;
  if (form.size > 1 && !is_in(text[1], form.second_low, form.second_high)) return false;
  for (std::size_t i = 2; i < form.size; ++i) {
    if (!is_in(text[i], 0x80, 0xBF)) return false;
  }
  return true;
}

}  // namespace

std::size_t character_size(std::string_view text) noexcept {
  for (const Form& form : kForms) {
    if (has_form(text, form)) return form.size;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text = {text.data() + size, text.size() - size};
  }
  return true;
}

bool put_utf8(Bytes& out, std::string_view text, std::size_t most) noexcept {
  std::size_t good = 0;  // at the front of `text`, not yet put
  while (good < text.size()) {
    const std::string_view rest(text.data() + good, text.size() - good);
    const std::size_t size = character_size(rest);
    const std::size_t put = size == 0 ? 1 : size;
    if (put > most) break;
    most -= put;
    if (size != 0) {
      good += size;
      continue;
    }
    out.raw(std::string_view(text.data(), good)).u8('?');
    text = {rest.data() + 1, rest.size() - 1};
    good = 0;
  }
  out.raw(std::string_view(text.data(), good));
  return good == text.size();
}

}  // namespace jitquill
