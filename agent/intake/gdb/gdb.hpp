// The GDB JIT interface: what JITs tell debuggers about their code (docs/intake-gdb.md).
//
// Each object of the host that has one tells its own. Its function is patched to call us; where that cannot
// be, its list is read now and then. The host's descriptors are read, never owned or changed.
//
// Context   under the intakes' lock, by the thread that registers code, whose emitter's lock is held.
#pragma once

#include <cstdint>

namespace jitquill::gdb {

// Whether something registered is not final yet. Any context.
bool anything_waits() noexcept;

// The code in this range is as it will run. Under the intakes' lock.
void became_final(std::uint64_t address, std::uint64_t size);

}  // namespace jitquill::gdb
