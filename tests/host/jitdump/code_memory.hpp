// Memory that a host program hands out to functions; nothing in it is ever run.
//
// Context   host programs.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "tests/host/jitdump/pattern.hpp"

class CodeMemory {
 public:
  explicit CodeMemory(std::size_t functions) : size_(functions * pattern::kSpacing) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    start_ = static_cast<std::uint8_t*>(memory);
  }
  ~CodeMemory() { munmap(start_, size_); }
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  std::uint8_t* at(std::size_t function) const { return start_ + function * pattern::kSpacing; }

 private:
  std::size_t size_;
  std::uint8_t* start_;
};
