// The header that files of all four kinds begin with.
//
// Context   any.
#pragma once

#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

enum class Kind : std::uint8_t {
#define OPROFILE_KIND(name, magic, what) name,
#include "writer/oprofile/kind.def"
#undef OPROFILE_KIND
};

inline constexpr std::uint8_t kMajor = 1, kMinor = 0;
inline constexpr std::size_t kFixedHeaderSize = 8;
inline std::size_t header_size(const Words& words) noexcept {
  return kFixedHeaderSize + words.width();
}

// By the first four bytes.
std::optional<Kind> kind_of(std::span<const std::uint8_t> file) noexcept;

void put_header(Kind kind, const Words& words, Bytes& out) noexcept;

}  // namespace jitquill::oprofile
