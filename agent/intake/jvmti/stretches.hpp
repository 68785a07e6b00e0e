// Which bytecodes of which methods each stretch of compiled code came from: the two forms in which a VM tells
// it, made one.
//
// HotSpot's inline record has for some addresses the whole stack of inlined calls. Such an address is where a
// stretch *ends*: the compilers note it behind the instructions of which it is true (call return addresses
// included), and HotSpot itself looks for the first one above a pc. The map of the specification has for each
// address that it *starts* there, and only the outermost method.
//
// Context   [notify].
// Promises  offsets ascend and lie inside the code, whatever the VM's structures hold; what cannot be read or
//           is out of bounds is left out. The record is preferred.
#pragma once

#include <cstdint>
#include <span>

#include "agent/intake/jvmti/interface.hpp"
#include "agent/intake/jvmti/scratch.hpp"

namespace jitquill::intake::jvmti {

// The arguments of a COMPILED_METHOD_LOAD.
struct CompiledMethod {
  MethodId method;
  std::uint64_t address;
  std::uint32_t size;
  const CodeStart* map;
  std::int32_t map_length;
  const void* compile_info;
};

// Up to the next one's offset.
struct Stretch {
  std::uint32_t offset;
  std::uint32_t depth;            // at least 1
  const MethodId* methods;        // the innermost first; null = not known
  const std::int32_t* bytecodes;  // of each; below 0: in front of the first
};

std::span<const Stretch> stretches_of(const CompiledMethod& compiled, Scratch& scratch) noexcept;

}  // namespace jitquill::intake::jvmti
