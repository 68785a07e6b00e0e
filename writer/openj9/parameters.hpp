// Puts the parameters of an entry, as the signature of its trace point has them.
//
// Context   any; puts into the caller's buffer.
// Promises  whatever the values are, the formatter reads back as many parameters as there are. What does not
//           fit is cut from texts, between two characters; numbers are always whole.
// Does not  check that the calls are those of the signature: put_values() does, while compiling.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/openj9/message_template.hpp"
#include "writer/openj9/target.hpp"
#include "writer/openj9/text.hpp"

namespace jitquill::openj9 {

// Bytes that a parameter takes at least.
template <Target kTarget>
constexpr std::size_t least_size(ParameterType type) noexcept {
  constexpr std::uint8_t kSizes[] = {4, 4, 8, 8, kTarget.pointer_size, kTarget.pointer_size, 8, 1, 1, 2};
  return kSizes[static_cast<std::size_t>(type)];
}
template <Target kTarget>
constexpr std::size_t least_size(const Signature& signature) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < signature.count; ++i) sum += least_size<kTarget>(signature.types[i]);
  return sum;
}

// What a caller passes for a parameter.
template <ParameterType>
struct ValueOf;
template <>
struct ValueOf<ParameterType::kInt32> : std::type_identity<std::int32_t> {};
template <>
struct ValueOf<ParameterType::kUint32> : std::type_identity<std::uint32_t> {};
template <>
struct ValueOf<ParameterType::kInt64> : std::type_identity<std::int64_t> {};
template <>
struct ValueOf<ParameterType::kUint64> : std::type_identity<std::uint64_t> {};
template <>
struct ValueOf<ParameterType::kSize> : std::type_identity<std::uint64_t> {};
template <>
struct ValueOf<ParameterType::kPointer> : std::type_identity<std::uint64_t> {};
template <>
struct ValueOf<ParameterType::kDouble> : std::type_identity<double> {};
template <>
struct ValueOf<ParameterType::kChar> : std::type_identity<char> {};
template <>
struct ValueOf<ParameterType::kAscii> : std::type_identity<std::string_view> {};
template <>
struct ValueOf<ParameterType::kText> : std::type_identity<std::string_view> {};

template <Target kTarget>
class Parameters {
 public:
  // `most`: bytes for all of them, at least as many as they take without texts.
  Parameters(const Signature& signature, std::size_t most, Bytes& out) noexcept
      : out_(out), room_(most - least_size<kTarget>(signature)) {}

  void put(ParameterType type, std::uint64_t bits) noexcept;  // of a number or an address
  void put(ParameterType, double v) noexcept { number<8>(std::bit_cast<std::uint64_t>(v)); }
  void put(ParameterType, char v) noexcept {  // others than ASCII are junk to the formatter
    out_.u8(v < 0x20 || v > 0x7E ? '?' : static_cast<std::uint8_t>(v));
  }
  void put(ParameterType type, std::string_view v) noexcept;
  void put(ParameterType type, std::int32_t v) noexcept { put(type, static_cast<std::uint64_t>(v)); }
  void put(ParameterType type, std::uint32_t v) noexcept { put(type, std::uint64_t{v}); }
  void put(ParameterType type, std::int64_t v) noexcept { put(type, static_cast<std::uint64_t>(v)); }

  // kTextCut: without the ends of texts.
  Status status() const noexcept { return is_cut_ ? Status::kTextCut : Status::kOk; }

 private:
  template <unsigned kSize>
  void number(std::uint64_t v) noexcept;

  Bytes& out_;
  std::size_t room_;  // for texts
  bool is_cut_ = false;
};

template <Target kTarget>
template <unsigned kSize>
void Parameters<kTarget>::number(std::uint64_t v) noexcept {
  std::uint8_t* const room = out_.reserve(kSize);
  if (room == nullptr) return;
  Fields<kTarget> fields(room);
  if constexpr (kSize == 2) fields.u16(static_cast<std::uint16_t>(v));
  if constexpr (kSize == 4) fields.u32(static_cast<std::uint32_t>(v));
  if constexpr (kSize == 8) fields.u64(v);
  out_.put_up_to(Cursor(fields.at()));
}

template <Target kTarget>
void Parameters<kTarget>::put(ParameterType type, std::uint64_t bits) noexcept {
  least_size<kTarget>(type) == 8 ? number<8>(bits) : number<4>(bits);
}

// | length u16 | bytes |, or bytes up to a NUL
template <Target kTarget>
void Parameters<kTarget>::put(ParameterType type, std::string_view v) noexcept {
  const std::size_t start = out_.size();
  const std::size_t least = least_size<kTarget>(type);
  if (type == ParameterType::kAscii) {
    is_cut_ |= !put_ascii(out_, v, room_ + least);
  } else {
    number<2>(0);
    is_cut_ |= !put_text(out_, v, room_ < kMostText ? room_ : kMostText);
  }
  if (out_.failed()) return;
  const std::size_t size = out_.size() - start - least;
  room_ -= size;
  if (type == ParameterType::kAscii) return;
  const auto length = static_cast<std::uint16_t>(size);
  out_.patch_u16(start, kTarget.order == std::endian::native ? length : __builtin_bswap16(length));
}

namespace detail {

template <const Signature& kSignature, std::size_t kAt, class... Values>
consteval bool fits() {
  if constexpr (sizeof...(Values) != kSignature.count)
    return false;
  else
    return []<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      return (std::is_same_v<Values, typename ValueOf<kSignature.types[kPlaces]>::type> && ...);
    }
  (std::make_index_sequence<sizeof...(Values)>{});
}

}  // namespace detail

// Values of exactly the types that a signature asks for: std::uint32_t{3}, std::string_view("x").
template <const Signature& kSignature, class... Values>
concept Fits = detail::fits<kSignature, 0, Values...>();

template <Target kTarget, const Signature& kSignature, class... Values>
requires Fits<kSignature, Values...> Status put_values(std::size_t most, Bytes& out, const Values&... values)
noexcept {
  Parameters<kTarget> parameters(kSignature, most, out);
  std::size_t at = 0;
  (parameters.put(kSignature.types[at++], values), ...);
  return parameters.status();
}

}  // namespace jitquill::openj9
