// Lets nothrow allocations of this test program fail, which is what a host at its memory limit does to us.
#pragma once

namespace jitquill::tests {

class NoMemoryHere {
 public:
  NoMemoryHere();
  ~NoMemoryHere();
  NoMemoryHere(const NoMemoryHere&) = delete;
  NoMemoryHere& operator=(const NoMemoryHere&) = delete;
};

}  // namespace jitquill::tests
