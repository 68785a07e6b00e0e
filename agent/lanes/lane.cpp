#include "agent/lanes/lane.hpp"

#include "agent/hooks/x86_64/site_numbers.h"
#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

static_assert(JITQUILL_SITE_RECORD_SIZE == sizeof(Record));
static_assert(JITQUILL_SITE_NO_ROOM_MASK == kNoRoomMask);
static_assert(JITQUILL_SITE_WHEN_AT == offsetof(Record, when));
static_assert(JITQUILL_SITE_WHAT_AT == offsetof(Record, what));

}  // namespace jitquill::lanes

thread_local constinit std::atomic<std::uint64_t>* jitquill_lane_cursor = nullptr;

void jitquill_lane_put_slowly(std::uint64_t /*what*/, std::uint64_t /*when*/,
                              std::uint64_t /*slot*/) noexcept {}
