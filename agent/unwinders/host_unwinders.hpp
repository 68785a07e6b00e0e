// The unwinders that live in this process, and how each wants to be told of code.
//
// Two kinds. The exception engine is the first object, in the order of loading, that defines
// _Unwind_RaiseException and takes .eh_frame sections: libgcc, or LLVM's libunwind. Nongnu libunwind takes
// records of its own; it may be the exception engine too, or only somebody's stack walker, opened with
// RTLD_LOCAL. Both kinds are told: with libunwind first, the host's throws are libunwind's, but glibc's
// pthread_cancel() still goes to libgcc.
//
// Context   under the lock of registry.hpp, the leaf lock not held: the functions here take locks of the host
//           and use its allocator.
// Promises  finds functions in the object that defines them, so never our own static libgcc.
#pragma once

#include <cstddef>
#include <cstdint>

struct unw_dyn_info;
struct unw_dyn_info_list;

namespace jitquill::unwinders {

// How the exception engine takes code.
enum class Style : std::uint8_t {
  kNone,       // there is no engine, or none that we know
  kSections,   // libgcc 12 and older: a section of many entries, which is read again at every throw
  kFunctions,  // libgcc 13 and newer: keeps a tree of the ranges that it read at registration
  kEntries,    // LLVM's libunwind: a bare entry for each call
};

struct ExceptionEngine {
  Style style = Style::kNone;
  // With memory of the caller's for the engine's own note (object_pool.hpp): no allocation.
  void (*register_section)(const void* section, void* object) = nullptr;
  void* (*deregister_section)(const void* section) = nullptr;
  void (*register_frame)(const void* section_or_entry) = nullptr;
  void (*deregister_frame)(const void* section_or_entry) = nullptr;
  const void* (*find_entry)(const void* pc, void* bases) = nullptr;

  bool is_same(const ExceptionEngine& other) const noexcept { return register_frame == other.register_frame; }
};

struct NongnuLibunwind {
  void (*register_record)(unw_dyn_info*) = nullptr;
  unw_dyn_info_list* (*list)() = nullptr;
  // Two objects keep caches of their own: libunwind.so and, with the remote interface, libunwind-x86_64.so.
  struct Cache {
    void (*flush)(void* address_space, std::uintptr_t low, std::uintptr_t high) = nullptr;
    void** address_space = nullptr;
  } caches[2];

  bool is_there() const noexcept { return register_record != nullptr; }
  void flush() const noexcept;
};

struct HostUnwinders {
  ExceptionEngine engine;
  NongnuLibunwind libunwind;
};

// The style of a libgcc is left open (kSections) until ask_style() is called.
HostUnwinders find_host_unwinders() noexcept;

// Asks a libgcc whether it reads a section again after registration, by changing one: kSections or
// kFunctions.
Style ask_style(const ExceptionEngine& engine) noexcept;

}  // namespace jitquill::unwinders
