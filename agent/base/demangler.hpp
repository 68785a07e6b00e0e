// Names of C++ functions as their source has them, for names as linkers have them (_ZN3foo3barEi).
//
// By libstdc++'s demangler in the form that calls back with the text: the one that answers a string takes it
// from malloc(), which is the host's. It wants as much of the stack as a name makes it (megabytes, for one
// that was made to), and whoever ends a process may have 16 KiB: so it runs on a stack of its own, address
// space until it is used.
//
// Context   any one thread at a time: under the lock of whoever owns it.
// Promises  a name that is none of C++'s, or that cannot be read, or for which there is no memory, comes back
//           as it is. At most kMostText bytes: names grow exponentially, and no more of one is made.
// Does not  know Rust's newer names (_R...).
#pragma once

#include <cstddef>
#include <string_view>

namespace jitquill {

class Demangler {
 public:
  static constexpr std::size_t kMostText = 4096;

  constexpr Demangler() noexcept = default;
  ~Demangler();
  Demangler(const Demangler&) = delete;
  Demangler& operator=(const Demangler&) = delete;

  // Valid until the next call, or as long as `name`.
  std::string_view text_of(std::string_view name) noexcept;

 private:
  struct Room;

  static void take(const char* text, std::size_t size, void* to) noexcept;
  static void run(unsigned low, unsigned high) noexcept;
  bool make_room() noexcept;

  Room* room_ = nullptr;  // at the top of the stack
};

}  // namespace jitquill
