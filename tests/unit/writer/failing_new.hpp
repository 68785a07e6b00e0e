// Lets nothrow allocations of this test program fail, which is what a host at its memory limit does to us.
#pragma once

#include <cstdint>

namespace jitquill::tests {

class NoMemoryHere {
 public:
  // The first `spared` allocations still succeed.
  explicit NoMemoryHere(std::uint64_t spared = 0);
  ~NoMemoryHere();
  NoMemoryHere(const NoMemoryHere&) = delete;
  NoMemoryHere& operator=(const NoMemoryHere&) = delete;
};

}  // namespace jitquill::tests
