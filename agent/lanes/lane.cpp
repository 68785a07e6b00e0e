#include "agent/lanes/lane.hpp"

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/x86_64/site_numbers.h"
#include "agent/lanes/lane_room.hpp"
#include "agent/lanes/pool_page.hpp"

thread_local constinit std::atomic<std::uint64_t>* jitquill_lane_cursor = nullptr;

namespace jitquill::lanes {
namespace {

static_assert(JITQUILL_SITE_RECORD_SIZE == sizeof(Record));
static_assert(JITQUILL_SITE_NO_ROOM_MASK == kNoRoomMask);
static_assert(JITQUILL_SITE_WHEN_AT == offsetof(Record, when));
static_assert(JITQUILL_SITE_WHAT_AT == offsetof(Record, what));

// The order of the two stores is what makes a record whole or not there.
void store(Record* at, std::uint64_t what, std::uint64_t when) noexcept {
  at->what.store(what, std::memory_order_relaxed);
  at->when.store(when, std::memory_order_release);
}

bool ends_a_frame(RecordKind kind) noexcept {
  return kind == RecordKind::kLeave || kind == RecordKind::kTail || kind == RecordKind::kLeaveKey;
}

// Up to `size` bytes, the first in the lowest byte.
std::uint64_t bytes_at(const std::uint8_t* from, std::size_t size) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{from[i]} << (8 * i);
  return word;
}

void store_more(Record* at, const std::uint8_t* payload, std::size_t size, std::size_t following) noexcept {
  const std::size_t in_when = size < kMoreInWhen ? size : kMoreInWhen;
  const auto count = static_cast<std::uint32_t>(following) << 16;  // its low 16 bits would be in `when`
  store(at, what_word(RecordKind::kMore, bytes_at(payload + in_when, size - in_when), count),
        bytes_at(payload, in_when) | kMoreMark);
}

}  // namespace

bool is_on() noexcept {
  const PoolPage* const pool = g_pool_page.load(std::memory_order_acquire);
  return pool != nullptr && pool->state.load(std::memory_order_relaxed) != PoolState::kOff;
}

void put(RecordKind kind, std::uint64_t what, std::uint32_t slot) noexcept {
  if (!is_on()) return;
  const std::uint64_t early = ends_a_frame(kind) ? cpu::ticks() : 0;
  Record* const at = reserve(1);
  if (at == nullptr) return;
  at->what.store(what_word(kind, what, slot), std::memory_order_relaxed);
  at->when.store(when_word(early != 0 ? early : cpu::ticks(), slot), std::memory_order_release);
}

bool post(std::uint32_t event, const std::uint8_t* payload, std::size_t size) noexcept {
  if (!is_on()) return true;
  if (size > kMostPayload) return false;
  const std::size_t more = (size + kMoreBytes - 1) / kMoreBytes;
  Record* const at = reserve(more + 1);
  if (at == nullptr) return false;
  const std::uint64_t now = cpu::ticks();
  for (std::size_t i = 0; i < more; ++i) {
    const std::size_t from = i * kMoreBytes;
    const std::size_t rest = size - from;
    store_more(at + 1 + i, payload + from, rest < kMoreBytes ? rest : kMoreBytes, more - 1 - i);
  }
  const std::uint64_t what = std::uint64_t{event & 0xFFFFU} | std::uint64_t{size} << 16;
  store(at, what_word(RecordKind::kPost, what, 0), when_word(now, 0));
  return true;
}

void put_stack(std::uint64_t low, std::uint64_t high) noexcept {
  std::uint8_t payload[16];
  for (std::size_t i = 0; i < 8; ++i) {
    payload[i] = static_cast<std::uint8_t>(low >> (8 * i));
    payload[8 + i] = static_cast<std::uint8_t>(high >> (8 * i));
  }
  (void)post(kPostStack, payload, sizeof payload);
}

void put_thread_end() noexcept {
  (void)post(kPostThreadEnd, nullptr, 0);
}

}  // namespace jitquill::lanes

using namespace jitquill::lanes;

void jitquill_lane_put_slowly(std::uint64_t what, std::uint64_t when, std::uint64_t slot) noexcept {
  if (!is_on()) return pull_back();
  Record* const at = reserve(1);
  if (at == nullptr) return;
  at->what.store(what, std::memory_order_relaxed);
  at->when.store(when != 0 ? when : when_word(jitquill::cpu::ticks(), slot_of(slot)),
                 std::memory_order_release);
}
