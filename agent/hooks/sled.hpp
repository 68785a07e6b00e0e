// The bytes of a site: an 11-byte sled, prefilled by whoever emits the code, 8-aligned.
//
//   off  EB 09   id32  E8 rel32     jmp over the rest
//   on   41 BA   id32  E8 rel32     mov r10d, id; call thunk
//
// Its first two bytes are one aligned store, and the rest never changes once it was on: so a thread that
// stands anywhere in it goes on rightly, whatever is stored. A full restore would take the call from one that
// stands behind the mov.
//
//   thunk    FF 25 00 00 00 00  address64     jmp [rip + 0], within 2 GiB of its sleds
//
// Context   any. The bytes are the caller's to vouch for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::sled {

inline constexpr std::size_t kSize = 11;
inline constexpr std::size_t kAlignment = 8;
inline constexpr std::size_t kThunkSize = 14;
inline constexpr std::uint16_t kOff = 0x09EB, kOn = 0xBA41;  // as they are read: little-endian

inline std::uint16_t state_of(const std::uint8_t* bytes) noexcept {
  std::uint16_t state = 0;
  __builtin_memcpy(&state, bytes, sizeof state);
  return state;
}

inline bool is_sled(const std::uint8_t* bytes) noexcept {
  constexpr std::uint8_t kCall = 0xE8;
  const std::uint16_t state = state_of(bytes);
  return (state == kOff || state == kOn) && bytes[6] == kCall;
}

inline std::uint32_t id_of(const std::uint8_t* bytes) noexcept {
  std::uint32_t id = 0;
  __builtin_memcpy(&id, bytes + 2, sizeof id);
  return id;
}

// Where its call goes when it runs at `address`.
inline std::uint64_t target_of(const std::uint8_t* bytes, std::uint64_t address) noexcept {
  std::int32_t relative = 0;
  __builtin_memcpy(&relative, bytes + 7, sizeof relative);
  return address + kSize + static_cast<std::uint64_t>(std::int64_t{relative});
}

// The hook that a thunk leads to; 0: these bytes are no thunk.
inline std::uint64_t hook_of(const std::uint8_t (&thunk)[kThunkSize]) noexcept {
  constexpr std::uint8_t kJump[] = {0xFF, 0x25, 0, 0, 0, 0};
  if (__builtin_memcmp(thunk, kJump, sizeof kJump) != 0) return 0;
  std::uint64_t hook = 0;
  __builtin_memcpy(&hook, thunk + sizeof kJump, sizeof hook);
  return hook;
}

// One store. `at` is aligned, as the place where the sled runs.
inline void turn(std::uint8_t* at, bool on) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint16_t*>(at), on ? kOn : kOff, __ATOMIC_RELEASE);
}

// Off, with this id: one store of the first eight bytes, for code that does not run yet or whose sled is off.
inline void put_id(std::uint8_t* at, std::uint32_t id) noexcept {
  auto* const word = reinterpret_cast<std::uint64_t*>(at);
  const std::uint64_t call = __atomic_load_n(word, __ATOMIC_RELAXED) & ~std::uint64_t{0} << 48;
  __atomic_store_n(word, call | std::uint64_t{id} << 16 | kOff, __ATOMIC_RELEASE);
}

}  // namespace jitquill::sled
