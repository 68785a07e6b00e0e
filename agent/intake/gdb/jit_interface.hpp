// The GDB JIT interface as it lies in a host's memory, read without faults.
//
// Context   [notify].
// Does not  know how long a runtime's descriptor really is: some have members of their own behind these.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "agent/base/safe_copy.hpp"

namespace jitquill::gdb {

inline constexpr char kFunction[] = "__jit_debug_register_code";
inline constexpr char kDescriptor[] = "__jit_debug_descriptor";

enum Action : std::uint32_t { kNothing, kRegister, kUnregister };

struct JitDescriptor {
  std::uint32_t version;
  std::uint32_t action;
  std::uint64_t relevant;
  std::uint64_t first;
};
static_assert(sizeof(JitDescriptor) == 24 && offsetof(JitDescriptor, first) == 16);

struct JitEntry {
  std::uint64_t next;
  std::uint64_t previous;
  std::uint64_t symfile;
  std::uint64_t symfile_size;
};
static_assert(sizeof(JitEntry) == 32 && offsetof(JitEntry, symfile_size) == 24);

// Nothing if it cannot all be read.
template <class T>
std::optional<T> read_from_host(std::uint64_t address) noexcept {
  T value;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(address);
  if (address == 0 || !safe_copy({from, sizeof value}, reinterpret_cast<std::uint8_t*>(&value), 0))
    return std::nullopt;
  return value;
}

// Calls see(its address, entry) for each entry of the list that begins at `first`, until it says false, up to
// the first that cannot be read. One that goes in a circle is left after few rounds.
template <class See>
void for_each_entry(std::uint64_t first, See see) {
  constexpr std::uint32_t kMost = 1'000'000;  // what is longer is broken
  std::uint64_t met = 0;                      // an entry that was passed; it is moved on at each power of two
  std::uint64_t entry = first;
  for (std::uint32_t i = 1; entry != 0 && entry != met && i <= kMost; ++i) {
    const auto from = read_from_host<JitEntry>(entry);
    if (!from || !see(entry, *from)) break;
    if (std::has_single_bit(i)) met = entry;
    entry = from->next;
  }
}

}  // namespace jitquill::gdb
