// A runtime's event as GHC's tools know it: which record it becomes, and in whose block that belongs.
//
// Context   any; puts into the caller's buffer.
// Promises  every event of writer/model/runtime_event.def has a row here. Values that are too large for their
//           field are the largest that fit, ids keep their lowest bits.
// Does not  put the events that say which thread of the system serves which capability (kOfSink): whoever
//           writes the file knows the threads.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/runtime_event.hpp"
#include "writer/model/status.hpp"

namespace jitquill::eventlog {

inline constexpr std::uint32_t kProcessSet =
    0;  // capability sets, as GHC numbers them; the heap's is the first too
inline constexpr std::uint32_t kClockSet = 1;

enum class Where : std::uint8_t {
  kCapability,  // in the block of the capability that tells it: ThreadScope ends where it finds some
                // elsewhere
  kOutside,     // in a block of no capability
  kOfSink,      // nowhere by itself
};

Where where(RuntimeEventKind kind) noexcept;

// The records of the event. `capability`: who tells it.
Status put_runtime_event(const RuntimeEvent& event, std::uint64_t when_ns, std::uint16_t capability,
                         Bytes& out) noexcept;

}  // namespace jitquill::eventlog
