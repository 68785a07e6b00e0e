// The record of a lane: 16 bytes, two words.
//
//   when   bits 0..47  low 48 bits of the CPU's counter (RDTSC)     bits 48..63  slot >> 3, its low 16 bits
//   what   bits 0..47  see the kind                                 bits 48..51  kind
//                                                                   bits 52..63  slot >> 3, the next 12 bits
//
// `when` is stored last. A record is there if and only if its `when` is not 0: a lane's memory is zero
// before. The slot is the stack word that holds the function's return address: 28 bits of its address / 8,
// which is 2 GiB of stacks. It stands in entry and exit, so that they find each other whatever happened in
// between.
//
// A post is a kPost record and kMore records directly behind it, for its payload: 13 bytes in each, the first
// 7 in bits 0..55 of `when` (bits 56..63 are kMoreMark, so that it is never 0), 6 in bits 0..47 of `what`.
// The kPost's own `when` is stored last of all.
//
// Context   any; plain values. The layout is that of hooks/x86_64/sites.S.
#pragma once

#include <atomic>
#include <cstdint>

namespace jitquill::lanes {

enum class RecordKind : std::uint8_t {
#define RECORD_KIND(name, number, what, slot) name = number,
#include "agent/lanes/record_kind.def"
#undef RECORD_KIND
};

inline constexpr unsigned kWhenBits = 48;
inline constexpr unsigned kWhatBits = 48;
inline constexpr std::uint64_t kLow48 = (std::uint64_t{1} << 48) - 1;
inline constexpr unsigned kSlotBits = 28;
inline constexpr std::uint32_t kSlotMask = (std::uint32_t{1} << kSlotBits) - 1;
inline constexpr std::size_t kMoreBytes = 13;
inline constexpr std::size_t kMoreInWhen = 7;  // of them in `when`
inline constexpr std::uint64_t kMoreMark = std::uint64_t{0xA5} << 56;

// As it lies in a lane.
struct Record {
  std::atomic<std::uint64_t> when;
  std::atomic<std::uint64_t> what;
};
static_assert(sizeof(Record) == 16);

constexpr std::uint32_t slot_of(std::uint64_t address) noexcept {
  return static_cast<std::uint32_t>(address >> 3) & kSlotMask;
}

constexpr std::uint64_t when_word(std::uint64_t ticks, std::uint32_t slot) noexcept {
  return (ticks & kLow48) | std::uint64_t{slot & 0xFFFFU} << 48;
}
constexpr std::uint64_t what_word(RecordKind kind, std::uint64_t what, std::uint32_t slot) noexcept {
  return (what & kLow48) | std::uint64_t{static_cast<std::uint8_t>(kind)} << 48 |
         std::uint64_t{slot >> 16} << 52;
}

constexpr std::uint64_t low_ticks(std::uint64_t when) noexcept {
  return when & kLow48;
}
constexpr RecordKind kind_of(std::uint64_t what) noexcept {
  return static_cast<RecordKind>(what >> 48 & 0xF);
}
constexpr std::uint32_t slot_in(std::uint64_t when, std::uint64_t what) noexcept {
  return static_cast<std::uint32_t>(when >> 48) | static_cast<std::uint32_t>(what >> 52) << 16;
}

// The whole counter: the value nearest to `near` whose low bits are these. Right while the two are less than
// 2^47 ticks apart (13 hours at 3 GHz).
constexpr std::uint64_t whole_ticks(std::uint64_t low, std::uint64_t near) noexcept {
  const auto difference = static_cast<std::int64_t>((low - near) << 16) >> 16;
  return near + static_cast<std::uint64_t>(difference);
}

}  // namespace jitquill::lanes
