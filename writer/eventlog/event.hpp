// The events of an eventlog (event.def) and what their payloads are made of, as types.
//
// Context   any; plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace jitquill::eventlog {

// The low 16 bits are the event's number: those of an older layout have a bit more.
inline constexpr std::uint32_t kIsOlderLayout = 1u << 16;
enum class Event : std::uint32_t {
#define EVENTLOG_EVENT(name, NAME, number, owner, text, ...) name = number,
#define EVENTLOG_OLDER(name, NAME, number, owner, until, text, ...) name = kIsOlderLayout | number,
#include "writer/eventlog/event.def"
#undef EVENTLOG_EVENT
};
constexpr std::uint16_t number_of(Event event) noexcept {
  return static_cast<std::uint16_t>(event);
}

enum class Level : std::uint8_t {
#define EVENTLOG_LEVEL(name, word, readers) name,
#include "writer/sink/eventlog_level.def"
#undef EVENTLOG_LEVEL
};

enum class Owner : std::uint8_t {
  kGhc,
  kGhcRetired,  // numbers that nobody may use again
  kEden,        // and other parallel Haskells
  kMercury,
  kPerfTools,  // of Linux
  kJitquill,
};

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU64, kStr, kCStr, kStrs, kBytes, kU32List };

// What a caller passes for a field.
template <FieldType>
struct ValueOf;
template <>
struct ValueOf<FieldType::kU8> : std::type_identity<std::uint8_t> {};
template <>
struct ValueOf<FieldType::kU16> : std::type_identity<std::uint16_t> {};
template <>
struct ValueOf<FieldType::kU32> : std::type_identity<std::uint32_t> {};
template <>
struct ValueOf<FieldType::kU64> : std::type_identity<std::uint64_t> {};
template <>
struct ValueOf<FieldType::kStr> : std::type_identity<std::string_view> {};
template <>
struct ValueOf<FieldType::kCStr> : std::type_identity<std::string_view> {};
template <>
struct ValueOf<FieldType::kStrs> : std::type_identity<std::span<const std::string_view>> {};
template <>
struct ValueOf<FieldType::kBytes> : std::type_identity<std::span<const std::uint8_t>> {};
template <>
struct ValueOf<FieldType::kU32List> : std::type_identity<std::span<const std::uint32_t>> {};

// Bytes that a field takes at least; all that it ever takes where has_fixed_size().
constexpr std::size_t least_size(FieldType type) noexcept {
  constexpr std::uint8_t kSizes[] = {1, 2, 4, 8, 0, 1, 0, 0, 1};
  return kSizes[static_cast<std::size_t>(type)];
}
constexpr bool has_fixed_size(FieldType type) noexcept {
  return type <= FieldType::kU64;
}

inline constexpr std::uint16_t kVariable = 0xFFFF;  // as a declaration says it

template <FieldType... kTypes>
struct Fields {
  static constexpr std::size_t kCount = sizeof...(kTypes);
  static constexpr std::size_t kLeastSize = (least_size(kTypes) + ... + 0);
  static constexpr bool kIsFixed = (has_fixed_size(kTypes) && ...);
  static constexpr std::uint16_t kDeclaredSize = kIsFixed ? kLeastSize : kVariable;

  // Values for each field, of exactly its type: nothing is narrowed, and nothing left out.
  template <class... Values>
  static constexpr bool fits() noexcept {
    if constexpr (sizeof...(Values) == kCount)
      return (std::is_same_v<Values, typename ValueOf<kTypes>::type> && ...);
    else
      return false;
  }

  // put(type, value) of each, in their order.
  template <class Put, class... Values>
  static void each([[maybe_unused]] Put put, const Values&... values) {
    (put(std::integral_constant<FieldType, kTypes>{}, values), ...);
  }
};

namespace detail {
struct None {};
// The comma in front of each field's type has something before it.
template <class, FieldType... kTypes>
struct Behind {
  using type = Fields<kTypes...>;
};
}  // namespace detail

template <Event>
struct LayoutOf;
#define FIELD(type, name) , FieldType::type
#define EVENTLOG_EVENT(name, NAME, number, owner, text, ...) \
  template <>                                                \
  struct LayoutOf<Event::name> : detail::Behind<detail::None __VA_ARGS__>::type {};
#define EVENTLOG_OLDER(name, NAME, number, owner, until, text, ...) \
  EVENTLOG_EVENT(name, NAME, number, owner, text, __VA_ARGS__)
#include "writer/eventlog/event.def"
#undef EVENTLOG_EVENT
#undef FIELD

template <Event kEvent, class... Values>
concept Fits = LayoutOf<kEvent>::template fits<Values...>();

}  // namespace jitquill::eventlog
