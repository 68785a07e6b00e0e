#include "agent/drain/gdb_registry.hpp"

#include <atomic>
#include <cstddef>

using jitquill::ObjectEntry;

// Debuggers know these layouts: | version u32 | action u32 | relevant entry | first entry |, and of an entry
// | next | previous | image | its size u64 |.
struct JitDescriptor {
  std::uint32_t version;
  std::uint32_t action;
  ObjectEntry* relevant;
  ObjectEntry* first;
};
static_assert(offsetof(JitDescriptor, relevant) == 8 && offsetof(JitDescriptor, first) == 16);
static_assert(offsetof(ObjectEntry, next) == 0 && offsetof(ObjectEntry, previous) == 8);
static_assert(offsetof(ObjectEntry, image) == 16 && offsetof(ObjectEntry, image_size) == 24);

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] constinit JitDescriptor __jit_debug_descriptor{1, 0, nullptr,
                                                                                        nullptr};

// A debugger stops here and reads the descriptor.
[[gnu::visibility("hidden"), gnu::used, gnu::noinline]] void __jit_debug_register_code() noexcept {
  asm volatile("" ::: "memory");
}
}

namespace jitquill {
namespace {

enum Action : std::uint32_t { kNothing, kRegister, kUnregister };

// A debugger stops the process between any two instructions: the order of the writes is what it sees.
void in_order() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void tell(Action action, ObjectEntry& entry) noexcept {
  __jit_debug_descriptor.relevant = &entry;
  __jit_debug_descriptor.action = action;
  in_order();
  __jit_debug_register_code();
  __jit_debug_descriptor.action = kNothing;  // or who attaches later would take it for news
  __jit_debug_descriptor.relevant = nullptr;
}

constinit GdbRegistry g_registry;

}  // namespace

void GdbRegistry::publish(ObjectEntry& entry) noexcept {
  ObjectEntry*& first = __jit_debug_descriptor.first;
  entry.next = first;
  entry.previous = nullptr;
  if (first != nullptr) first->previous = &entry;
  in_order();
  first = &entry;
  tell(kRegister, entry);
}

void GdbRegistry::withdraw(ObjectEntry& entry) noexcept {
  if (entry.next != nullptr) entry.next->previous = entry.previous;
  (entry.previous != nullptr ? entry.previous->next : __jit_debug_descriptor.first) = entry.next;
  in_order();
  tell(kUnregister, entry);
}

GdbRegistry& gdb_registry() noexcept {
  return g_registry;
}

}  // namespace jitquill
