// What the drain needs of the lanes' memory: the pool of this process, or the file that a dead one left.
//
// Context   [drain]; `jitquill recover`.
#pragma once

#include <cstdint>
#include <span>

namespace jitquill::drain {

class LaneSource {
 public:
  // The file `lanes`, as agent/lanes/layout.hpp has it. The drain checks what it finds in it.
  virtual std::span<std::uint8_t> memory() noexcept = 0;
  // All of the chunk at `offset` is committed: it may be cleared and used again.
  virtual void give_back(std::uint64_t offset) noexcept = 0;
  // The same, but a record of it may still be written while its thread lives.
  virtual void quarantine(std::uint64_t offset) noexcept = 0;
  // Whether the row's thread is gone, and its lane therefore whole.
  virtual bool is_thread_gone(std::uint32_t row) noexcept = 0;
  // All of a gone thread is committed, and its chunks were given back.
  virtual void free_row(std::uint32_t row) noexcept = 0;

 protected:
  ~LaneSource() = default;
};

}  // namespace jitquill::drain
