#include "writer/oprofile/header.hpp"

#include <algorithm>
#include <string_view>

namespace jitquill::oprofile {
namespace {

constexpr std::string_view kMagics[] = {
#define OPROFILE_KIND(name, magic, what) magic,
#include "writer/oprofile/kind.def"
#undef OPROFILE_KIND
};

}  // namespace

std::optional<Kind> kind_of(std::span<const std::uint8_t> file) noexcept {
  std::uint8_t number = 0;
  for (const std::string_view magic : kMagics) {
    if (file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin()))
      return static_cast<Kind>(number);
    ++number;
  }
  return std::nullopt;
}

// | magic 4 | major u8 | minor u8 | width u8 | 0 | significance of each byte of a word |
void put_header(Kind kind, const Words& words, Bytes& out) noexcept {
  out.raw(kMagics[static_cast<std::size_t>(kind)]).u8(kMajor).u8(kMinor);
  out.u8(static_cast<std::uint8_t>(words.width())).u8(0).raw(words.order());
}

}  // namespace jitquill::oprofile
