// An ELF file in memory that tells a debugger of functions at absolute addresses: symbols, frames, and as
// DWARF 4 one unit with their names and lines. There is no code in it.
//
// Context   any one thread; puts into the caller's buffer.
// Promises  a function can be taken out again in place: what its image says of the others stays as it was.
// Does not  say of a function what is not known of it: without lines or frame it has none.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/gdbobj/files.hpp"
#include "writer/gdbobj/function.hpp"

namespace jitquill::gdbobj {

// A function and where the parts of it are that have no fixed place.
struct Member {
  Function* function = nullptr;
  std::uint32_t cfi_at = 0;
  std::uint32_t lines_at = 0;
  std::uint32_t lines_size = 0;
};

// Where the tables begin that have an entry of fixed size for each member, in their order.
struct ImageTables {
  std::uint32_t symbols_at = 0;
  std::uint32_t dies_at = 0;
  std::uint32_t ranges_at = 0;
};

// Puts the image at the start of an empty buffer. The members ascend by address and do not overlap; their
// places are set here. At most kMostMembers.
inline constexpr std::size_t kMostMembers = 32 * 1024;  // sections of code must stay below SHN_LORESERVE
ImageTables put_image(Bytes& out, std::span<Member> members, Files& files) noexcept;

// Takes a member out of a finished image: nothing in it tells of the function any more.
void erase(std::uint8_t* image, const ImageTables& tables, std::span<const Member> members,
           std::size_t index) noexcept;

}  // namespace jitquill::gdbobj
