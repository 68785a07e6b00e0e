// The Java VM of this process, found without the loader's help and without being part of it.
//
// Context   a thread of ours, no lock held: reads /proc, takes the loader's lock for a moment.
#pragma once

#include "agent/base/elf_object.hpp"
#include "agent/intake/jvmti/interface.hpp"

namespace jitquill::intake::jvmti {

// Whether a VM could be made by what this object exports.
bool makes_vms(const ElfObject& object) noexcept;

// A VM that threads may attach to; null: none yet.
Vm* find_ready_vm() noexcept;

}  // namespace jitquill::intake::jvmti
