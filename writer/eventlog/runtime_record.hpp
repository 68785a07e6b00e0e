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
#include "writer/eventlog/event.hpp"
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

// Where an event stands, and what it names, as the log has that.
struct RuntimePlace {
  std::uint64_t when_ns;
  std::uint16_t capability;  // who tells it
  std::uint16_t other;       // that it names
  std::uint32_t thread;      // that it names
  std::uint32_t info;        // of a stop
  Level level;               // readers of which
  bool own;                  // events of ours too
};

// As the event itself has them, for the newest readers.
RuntimePlace place_of(const RuntimeEvent& event, std::uint64_t when_ns, std::uint16_t capability) noexcept;

// The records of the event; none, where readers of that level know none.
Status put_runtime_event(const RuntimeEvent& event, const RuntimePlace& place, Bytes& out) noexcept;

}  // namespace jitquill::eventlog
