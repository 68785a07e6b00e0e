// The records of a jitdump file (docs/jitdump.md), version 1, each put by one function, field by field.
//
// Context   any; puts into the caller's buffer, host byte order (the magic tells readers which).
// Promises  a record that is refused leaves nothing in the buffer. The buffer tells when memory is out
//           (Bytes::failed()).
// Does not  know in which order they must stand: group.hpp does.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"

namespace jitquill::jitdump {

inline constexpr std::uint32_t kMagic = 0x4A695444;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderSize = 40;  // exactly: perf misreads a longer header

enum class RecordId : std::uint32_t {
  kCodeLoad = 0,
  kCodeMove = 1,
  kCodeDebugInfo = 2,
  kCodeClose = 3,
  kCodeUnwindingInfo = 4,
  kInlineInfo = 0x31504D54,  // "TMP1", samply's
};

// The code as the dump has it.
struct Image {
  std::span<const std::uint8_t> bytes;
  std::uint64_t salt = 0;       // put behind the bytes, or over the end of them
  std::uint32_t salt_size = 0;  // 0 = none, else 8
  bool is_over = false;         // over the last bytes, which are padding
  std::uint64_t size() const noexcept { return bytes.size() + (is_over ? 0 : salt_size); }
};

// Where an unwinding record's function lies.
struct Place {
  std::uint64_t code_size = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t twin_distance = 0;  // from a twin up to the code; 0 = no twin
  std::uint64_t room = 0;           // bytes behind it that perf may map for the tables
};

void put_header(Bytes& out, const Origin& origin) noexcept;

// kLinesLeftOut: offsets that do not ascend or leave the code, a row without a file. No lines: nothing is
// put. The last line reaches to the end of the image.
Status put_debug_info(Bytes& out, const CodeLoad& load, const Image& image) noexcept;
// As put_debug_info(), of load.inlining.
Status put_inline_info(Bytes& out, const CodeLoad& load) noexcept;

// kUnwindingLeftOut: bad frame events. `tail` becomes the bytes that perf maps behind the code, 0 if the room
// is too small.
Status put_unwinding_info(Bytes& out, const Unwinding& unwinding, const Place& place,
                          std::uint32_t& tail) noexcept;

// kTooLarge: the record would be. `name_changed` becomes whether the name had to be.
Status put_load(Bytes& out, const CodeLoad& load, std::uint64_t address, const Image& image,
                bool& name_changed) noexcept;

void put_move(Bytes& out, const CodeMove& move) noexcept;

// The last bytes of a file: perf reads nothing behind it.
void put_close(Bytes& out, std::uint64_t when_ns) noexcept;

}  // namespace jitquill::jitdump
