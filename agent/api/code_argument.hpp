// What runtimes hand to the C API, of whatever version, as the agent works with it: structs, texts, and a
// jitquill_code as a CodeLoad.
//
// Context   [notify]: no lock needed. Nothing is copied but a struct of an older version: the load points
//           into the caller's memory.
#pragma once

#include <cstring>
#include <string_view>

#include "jitquill/jitquill.h"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"

namespace jitquill {

// Into a load that says nothing yet. kBadArgument, kEmptyCode or kTooLarge: it is not to be used.
Status read_code(const jitquill_code* code, CodeLoad& load) noexcept;

// No more room than any tables could fill.
std::uint32_t clamped_room(std::size_t room) noexcept;

// Only what the size of its tables depends on: the address may be unknown yet. False if it says nothing of a
// frame.
bool read_unwinding(const jitquill_code* code, Unwinding& unwinding, std::uint64_t& code_size) noexcept;

// A struct that grows: the members that the caller's version has, zero for the others. False if it has none.
template <class Struct>
bool read_struct(const Struct* from, Struct& to) noexcept {
  if (from == nullptr || from->struct_size < sizeof(std::uint32_t)) return false;
  const std::size_t size = from->struct_size < sizeof(Struct) ? from->struct_size : sizeof(Struct);
  to = {};
  __builtin_memcpy(&to, from, size);
  return true;
}

// As read_struct(), but a struct that has them all is read where it lies, and `older` not touched. Null:
// none.
template <class Struct>
const Struct* whole_struct(const Struct* from, Struct& older) noexcept {
  if (from != nullptr && from->struct_size >= sizeof(Struct)) return from;
  return read_struct(from, older) ? &older : nullptr;
}

// Of at most `most` bytes. Read before anything is held.
inline std::string_view text_of(const char* text, std::size_t most) noexcept {
  return text == nullptr ? std::string_view{} : std::string_view{text, strnlen(text, most)};
}

inline jitquill_status to_c(Status status) noexcept {
  return static_cast<jitquill_status>(status);
}

// The other way: the members that the caller's version has. struct_size is its own.
template <class Struct>
void write_struct(const Struct& from, Struct* to) noexcept {
  const std::size_t size = to->struct_size < sizeof(Struct) ? to->struct_size : sizeof(Struct);
  __builtin_memcpy(to, &from, size);
}

}  // namespace jitquill
