// The list of objects that a debugger reads from this process (gdb's manual, "JIT Compilation Interface").
//
// Its two symbols are found by name in the library's .symtab. They are not exported: a host's JIT that looks
// its own descriptor up by name would find ours otherwise, and gdb would lose that JIT's frames.
//
// Context   under the leaf lock.
// Promises  the list can be walked at every moment: by a debugger that attaches in the middle of a change,
//           and in a child of fork, which has a copy of its own.
// Does not  work in a stripped library: nothing is harmed then, but no debugger finds the list.
#pragma once

#include "writer/sink/object_registry.hpp"

namespace jitquill {

class GdbRegistry final : public ObjectRegistry {
 public:
  void publish(ObjectEntry& entry) noexcept override;
  void withdraw(ObjectEntry& entry) noexcept override;
};

// Exists from before the first call until the process is gone.
GdbRegistry& gdb_registry() noexcept;

}  // namespace jitquill
