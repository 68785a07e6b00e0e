// Entries of a trace: what is in front of their parameters, and the special ones.
//
// Context   any; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "writer/openj9/message_template.hpp"
#include "writer/openj9/target.hpp"

namespace jitquill::openj9 {

// | id u24, big-endian | lower half of the clock u32 | size of the name u32 | name |, behind the parameters
// the length of it all with its byte. Where that is over 255 it goes on: | 0 0 | length >> 8 | 4 |.
inline constexpr std::size_t kTicksAt = 3;
inline constexpr std::size_t kNameAt = 11;
inline constexpr std::size_t kMostShort = 255;
inline constexpr std::size_t kMostEntry = 65'527;
inline constexpr std::size_t kLongMark = 4;     // bytes behind the first byte of a long length
inline constexpr std::size_t kSpecialSize = 8;  // of a clock wrap, and of a loss

inline constexpr std::uint32_t kFirstNumber = 257;    // of a component, as it lies there
inline constexpr std::uint32_t kMostNumber = 16'126;  // of a component: the formatter keeps 14 bits

// Entries of the trace itself, which the formatter prints as dg.
inline constexpr std::string_view kInternalName = "INTERNALTRACECOMPONENT";
inline constexpr std::uint32_t kContextNumber =
    259;  // what follows in the exception buffer is of this thread
inline constexpr std::uint32_t kThreadEndNumber = 262;  // nothing follows of this thread

// All of an entry in front of its parameters; the clock is put where it is used.
template <Target kTarget>
class EntryHead {
 public:
  static constexpr std::size_t kMostName = 32;
  static constexpr std::size_t kRoom = 48;  // bytes, whole vectors of what a head may have

  constexpr EntryHead() noexcept = default;
  // Of a trace point. The name is is_component_name().
  constexpr EntryHead(std::string_view component, std::uint32_t number) noexcept
      : EntryHead(kFirstNumber + number, component, 0) {}
  static constexpr EntryHead internal(std::uint32_t number) noexcept {
    return EntryHead(number, kInternalName, 0);
  }

  constexpr std::span<const std::uint8_t> bytes() const noexcept { return {bytes_, size_}; }
  // Of the whole entry, up to the first byte of its length.
  constexpr std::size_t size_with(std::size_t parameters) const noexcept { return size_ + parameters + 1; }
  // In a record.
  static constexpr std::size_t size_in_record(std::size_t size) noexcept {
    return size <= kMostShort ? size : size + kLongMark;
  }
  // Of parameters: what fits into an entry that has `room` bytes in a record.
  constexpr std::size_t most_parameters(std::size_t room) const noexcept {
    const std::size_t most = room > kMostEntry + kLongMark ? kMostEntry + kLongMark : room;
    const std::size_t others = size_ + 1 + kLongMark;
    return most < others ? 0 : most - others;
  }

  // Where there is room for size_in_record(), and for kRoom: a fixed number of bytes is copied faster. The
  // byte behind it.
  std::uint8_t* put(std::uint64_t ticks, std::span<const std::uint8_t> parameters,
                    std::uint8_t* at) const noexcept {
    std::memcpy(at, bytes_, kRoom);
    Fields<kTarget>(at + kTicksAt).u32(static_cast<std::uint32_t>(ticks));
    at += size_;
    if (!parameters.empty()) std::memcpy(at, parameters.data(), parameters.size());
    const std::size_t size = size_with(parameters.size());
    Fields<kTarget> end(at + parameters.size());
    end.u8(static_cast<std::uint8_t>(size));
    if (size > kMostShort) end.u8(0).u8(0).u8(static_cast<std::uint8_t>(size >> 8)).u8(kLongMark);
    return end.at();
  }

 private:
  static_assert(kNameAt + kMostName <= kRoom);

  constexpr EntryHead(std::uint32_t raw_number, std::string_view name, int) noexcept
      : size_(static_cast<std::uint8_t>(kNameAt + name.size())) {
    bytes_[1] = static_cast<std::uint8_t>(raw_number >> 8);
    bytes_[2] = static_cast<std::uint8_t>(raw_number);
    Fields<kTarget>(bytes_ + 7).u32(static_cast<std::uint32_t>(name.size())).raw(name);
  }

  std::uint8_t bytes_[kRoom] = {};
  std::uint8_t size_ = 0;
};

// | 0 0 0 | upper half of the clock before, u32 | 8 |
template <Target kTarget>
std::uint8_t* put_wrap(std::uint32_t old_upper, std::uint8_t* at) noexcept {
  return Fields<kTarget>(at).zeros(3).u32(old_upper).u8(kSpecialSize).at();
}

// | 0 1 0 | records, u32 | 8 |
template <Target kTarget>
std::uint8_t* put_loss(std::uint32_t records, std::uint8_t* at) noexcept {
  return Fields<kTarget>(at).u8(0).u8(1).u8(0).u32(records).u8(kSpecialSize).at();
}

}  // namespace jitquill::openj9
