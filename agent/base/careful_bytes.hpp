// A load's bytes as they can be read now, in memory of our own.
//
// Context   under the leaf lock: it allocates from the arena.
// Promises  no fault: what cannot be read becomes traps, and is counted.
#pragma once

#include <cstdint>
#include <new>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "writer/model/code.hpp"

namespace jitquill {

class CarefulBytes {
 public:
  CarefulBytes() noexcept = default;
  ~CarefulBytes() { ::operator delete(copy_); }
  CarefulBytes(const CarefulBytes&) = delete;
  CarefulBytes& operator=(const CarefulBytes&) = delete;

  // Lets `load` point to the copy, while this lives. False: no memory.
  bool read(CodeLoad& load) noexcept {
    copy_ = static_cast<std::uint8_t*>(::operator new(load.bytes.size(), std::nothrow));
    if (copy_ == nullptr) return false;
    if (!safe_copy(load.bytes, copy_, kTrap)) count(Counter::code_unreadable);
    load.bytes = {copy_, load.bytes.size()};
    return true;
  }

 private:
  std::uint8_t* copy_ = nullptr;
};

}  // namespace jitquill
