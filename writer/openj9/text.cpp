#include "writer/openj9/text.hpp"

#include <cstdint>

#include "writer/bytes/utf8.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kMostEscape = 4;

// As many bytes as a character has that is printed as it is; 0: the first byte must be escaped. U+0080 to
// U+009F are controls, too.
std::size_t printable_size(std::string_view text) noexcept {
  const auto first = static_cast<std::uint8_t>(text[0]);
  if (first < 0x20 || first == 0x7F) return 0;
  if (first < 0x7F) return 1;
  const std::size_t size = character_size(text);
  const bool is_control = size == 2 && first == 0xC2 && static_cast<std::uint8_t>(text[1]) < 0xA0;
  return is_control ? 0 : size;
}

struct Escape {
  char text[kMostEscape];
  std::size_t size;
};

Escape escaped(std::uint8_t byte) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  const char letter = byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\t' ? 't' : '\0';
  if (letter != '\0') return {{'\\', letter}, 2};
  return {{'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]}, 4};
}

}  // namespace

bool put_text(Bytes& out, std::string_view text, std::size_t most) noexcept {
  std::size_t good = 0;  // at the front of `text`, not yet put
  bool has_room = true;
  while (good < text.size() && has_room) {
    const std::string_view rest(text.data() + good, text.size() - good);
    const std::size_t size = printable_size(rest);
    const Escape escape = size == 0 ? escaped(static_cast<std::uint8_t>(rest[0])) : Escape{{}, size};
    has_room = escape.size <= most;
    if (!has_room) break;
    most -= escape.size;
    if (size != 0) {
      good += size;
      continue;
    }
    out.raw(std::string_view(text.data(), good)).raw(std::string_view(escape.text, escape.size));
    text = {rest.data() + 1, rest.size() - 1};
    good = 0;
  }
  out.raw(std::string_view(text.data(), good));
  return has_room;
}

bool put_ascii(Bytes& out, std::string_view text, std::size_t most) noexcept {
  std::size_t at = 0;
  for (; at < text.size() && at + 1 < most; ++at)
    out.u8(text[at] < 0x20 || text[at] > 0x7E ? '?' : static_cast<std::uint8_t>(text[at]));
  out.u8(0);
  return at == text.size();
}

}  // namespace jitquill::openj9
