// Zeroed memory for a LanePool.
//
// Context   tests.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <span>

namespace jitquill::tests {

class PoolMemory {
 public:
  explicit PoolMemory(std::size_t size = std::size_t{16} << 20)
      : bytes_(static_cast<std::uint8_t*>(
                   mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
               size) {}
  ~PoolMemory() { munmap(bytes_.data(), bytes_.size()); }
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;
  std::span<std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<std::uint8_t> bytes_;
};

}  // namespace jitquill::tests
