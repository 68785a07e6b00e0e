#include "writer/oprofile/header.hpp"

#include <string_view>

namespace jitquill::oprofile {
namespace {

constexpr std::string_view kMagics[] = {
#define OPROFILE_KIND(name, magic, what) magic,
#include "writer/oprofile/kind.def"
#undef OPROFILE_KIND
};
constexpr std::uint8_t kMajor = 1, kMinor = 0;

}  // namespace

// | magic 4 | major u8 | minor u8 | width u8 | 0 | significance of each byte of a word |
void put_header(Kind kind, const Words& words, Bytes& out) noexcept {
  out.raw(kMagics[static_cast<std::size_t>(kind)]).u8(kMajor).u8(kMinor);
  out.u8(static_cast<std::uint8_t>(words.width())).u8(0).raw(words.order());
}

}  // namespace jitquill::oprofile
