// What is remembered of a live function, so that it can be announced again: at a new address, in a new file.
//
// Everything but the code's bytes, which are read again where they are then. Lines and events are packed
// behind the struct; file names are shared by all functions.
//
// Context   under the leaf lock.
// Promises  keep() copies; load() gives back what was kept, pointing into it.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "writer/model/code.hpp"

namespace jitquill {

// Each text once, until all are cleared: source files are few.
class Texts {
 public:
  // Null for null, and when memory is out.
  const char* intern(const char* text) noexcept;
  void clear() noexcept;

 private:
  using Set = std::set<std::string_view>;
  Set* set_ = nullptr;  // never destroyed, as the agent itself
  const char* last_ = nullptr;
};

class KeptCode {
 public:
  // Null: no memory. Free with forget().
  static KeptCode* keep(const CodeLoad& load, Texts& files) noexcept;
  static void forget(KeptCode* kept) noexcept;

  // A load with all but address and bytes; the room is what it had.
  CodeLoad load() const noexcept;

 private:
  KeptCode() noexcept = default;

  CodeLoad load_;
};

}  // namespace jitquill
