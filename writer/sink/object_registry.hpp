// Where a debugger of this process finds the objects that describe its jitted code.
//
// Context   as the sink that uses it (writer/sink/sink.hpp).
// Promises  nothing can fail, and nothing is allocated: the caller owns entries and images.
#pragma once

#include <cstdint>

namespace jitquill {

// One published object: a node of the list that debuggers walk. They know its layout (the jit_code_entry of
// gdb's manual).
struct ObjectEntry {
  ObjectEntry* next = nullptr;
  ObjectEntry* previous = nullptr;
  const std::uint8_t* image = nullptr;
  std::uint64_t image_size = 0;
};

class ObjectRegistry {
 public:
  // From now on a debugger may read the entry and its image at any moment: both stay as they are until
  // withdraw().
  virtual void publish(ObjectEntry& entry) noexcept = 0;
  virtual void withdraw(ObjectEntry& entry) noexcept = 0;

 protected:
  ~ObjectRegistry() = default;
};

}  // namespace jitquill
