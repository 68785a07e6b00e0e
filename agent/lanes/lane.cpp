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

bool ends_a_frame(RecordKind kind) noexcept {
  return kind == RecordKind::kLeave || kind == RecordKind::kTail || kind == RecordKind::kLeaveKey;
}

// The first byte in the lowest place.
std::uint64_t word_at(const std::uint8_t* from) noexcept {
  std::uint64_t word;
  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

// Of at most kMoreBytes.
void store_more(Record* at, const std::uint8_t* bytes, std::size_t size, std::size_t following) noexcept {
  constexpr std::uint64_t kInWhen = (std::uint64_t{1} << 8 * kMoreInWhen) - 1;
  std::uint64_t first = 0, behind = 0;
  if (size > kMoreInWhen) {
    static_assert(kMoreInWhen + 1 == sizeof first);
    first = word_at(bytes) & kInWhen;
    behind = word_at(bytes + size - sizeof behind) >> 8 * (kMoreInWhen + sizeof behind - size);
  } else {
    for (std::size_t i = 0; i < size; ++i) first |= std::uint64_t{bytes[i]} << (8 * i);
  }
  const auto count = static_cast<std::uint32_t>(following) << 16;  // its low 16 bits would be in `when`
  store_record(at, what_word(RecordKind::kMore, behind, count), first | kMoreMark);
}

// Where `size` bytes of it lie in one piece: what is in both of them is copied into `room`.
const std::uint8_t* piece_of(const Payload& payload, std::size_t from, std::size_t size,
                             std::uint8_t* room) noexcept {
  if (from + size <= payload.head_size) return payload.head + from;
  if (from >= payload.head_size) return payload.tail + (from - payload.head_size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = from + i;
    room[i] = at < payload.head_size ? payload.head[at] : payload.tail[at - payload.head_size];
  }
  return room;
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

bool post(std::uint32_t event, const Payload& payload) noexcept {
  if (!is_on()) return true;
  const std::size_t size = payload.head_size + payload.tail_size;
  if (size > kMostPayload) return false;
  const std::size_t more = (size + kMoreBytes - 1) / kMoreBytes;
  Record* const at = reserve(more + 1);
  if (at == nullptr) return false;
  const std::uint64_t now = cpu::ticks();
  for (std::size_t i = 0; i < more; ++i) {
    std::uint8_t room[kMoreBytes];
    const std::size_t from = i * kMoreBytes;
    const std::size_t here = size - from < kMoreBytes ? size - from : kMoreBytes;
    store_more(at + 1 + i, piece_of(payload, from, here, room), here, more - 1 - i);
  }
  const std::uint64_t what = std::uint64_t{event & 0xFFFFU} | std::uint64_t{size} << 16;
  store_record(at, what_word(RecordKind::kPost, what, 0), when_word(now, 0));
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
