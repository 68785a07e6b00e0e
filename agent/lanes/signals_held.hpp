// The calling thread's asynchronous signals, blocked for a while.
//
// Context   [hook]
#pragma once

#include <cstdint>

namespace jitquill::lanes {

// Blocks the calling thread's asynchronous signals while it lives. Those that a fault raises stay open: a
// host's handler of SIGSEGV must be reached from here too.
class SignalsHeld {
 public:
  SignalsHeld() noexcept;
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  std::uint64_t before_ = 0;
};

}  // namespace jitquill::lanes
