#include "agent/intake/v8/positions.hpp"

#include <limits>

namespace jitquill::intake::v8 {
namespace {

using Recording = Positions::Recording;

bool change(Recording& recording, std::uint64_t from, std::uint64_t to) noexcept {
  return recording.owner.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

}  // namespace

// A thread tells one function's positions after the other's: what it has left is nobody's any more.
void Positions::drop_left_ones(std::uint32_t thread) noexcept {
  for (Recording& recording : recordings_) {
    if (!change(recording, word(thread, kOpen), word(0, kFree)))
      (void)change(recording, word(thread, kEnded), word(0, kFree));
  }
}

Recording* Positions::claim(State from, std::uint32_t thread) noexcept {
  for (Recording& recording : recordings_) {
    const std::uint64_t owner = recording.owner.load(std::memory_order_relaxed);
    const bool has_state = static_cast<std::uint32_t>(owner) == from;
    if (has_state && change(recording, owner, word(thread, kOpen))) return &recording;
  }
  return nullptr;
}

void* Positions::begin(std::uint32_t thread) noexcept {
  drop_left_ones(thread);
  Recording* recording = claim(kFree, thread);
  if (recording == nullptr) recording = claim(kEnded, thread);  // most likely of a thread that is gone
  if (recording == nullptr) return nullptr;
  recording->positions.clear();
  recording->is_cut = false;
  return reinterpret_cast<void*>(recording - recordings_ + 1);
}

Recording* Positions::open_one_of(std::uint32_t thread, void* handle) noexcept {
  const std::uint64_t index = reinterpret_cast<std::uint64_t>(handle) - 1;
  if (index >= kRecordings) return nullptr;
  Recording& recording = recordings_[index];
  return recording.owner.load(std::memory_order_acquire) == word(thread, kOpen) ? &recording : nullptr;
}

void Positions::add(void* handle, std::uint32_t thread, std::uint64_t offset,
                    std::uint64_t position) noexcept {
  Recording* const recording = open_one_of(thread, handle);
  if (recording == nullptr) return;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (offset > kMost || position > kMost) return;
  const Position added{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(position)};
  if (!recording->positions.push(added, kMostPositions)) recording->is_cut = true;
}

void Positions::end(void* handle, std::uint32_t thread, std::uint64_t code) noexcept {
  Recording* const recording = open_one_of(thread, handle);
  if (recording == nullptr) return;
  recording->code.store(code, std::memory_order_relaxed);
  recording->owner.store(word(thread, kEnded), std::memory_order_release);
}

Recording* Positions::take(std::uint32_t thread, std::uint64_t code) noexcept {
  for (Recording& recording : recordings_) {
    if (recording.owner.load(std::memory_order_acquire) != word(thread, kEnded)) continue;
    if (recording.code.load(std::memory_order_relaxed) != code) continue;
    // Not if another thread, short of recordings, has it by now.
    if (change(recording, word(thread, kEnded), word(thread, kTaken))) return &recording;
  }
  return nullptr;
}

void Positions::give_back(Recording* recording) noexcept {
  if (recording != nullptr) recording->owner.store(word(0, kFree), std::memory_order_release);
}

}  // namespace jitquill::intake::v8
