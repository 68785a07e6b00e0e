#include "agent/intake/v8/positions.hpp"

#include <limits>

namespace jitquill::intake::v8 {
namespace {

using Recording = Positions::Recording;

bool change(Recording& recording, int from, int to) noexcept {
  return recording.state.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

bool is_of(const Recording& recording, std::uint32_t thread) noexcept {
  return recording.thread.load(std::memory_order_relaxed) == thread;
}

}  // namespace

// A thread tells one function's positions after the other's: what it has left is nobody's any more.
void Positions::drop_left_ones(std::uint32_t thread) noexcept {
  for (Recording& recording : recordings_) {
    if (!is_of(recording, thread)) continue;
    if (!change(recording, Recording::kOpen, Recording::kFree))
      (void)change(recording, Recording::kEnded, Recording::kFree);
  }
}

Recording* Positions::claim(Recording::State from) noexcept {
  for (Recording& recording : recordings_) {
    if (change(recording, from, Recording::kOpen)) return &recording;
  }
  return nullptr;
}

void* Positions::begin(std::uint32_t thread) noexcept {
  drop_left_ones(thread);
  Recording* recording = claim(Recording::kFree);
  if (recording == nullptr) recording = claim(Recording::kEnded);  // most likely of a thread that is gone
  if (recording == nullptr) return nullptr;
  recording->thread.store(thread, std::memory_order_relaxed);
  recording->positions.clear();
  recording->is_cut = false;
  return reinterpret_cast<void*>(recording - recordings_ + 1);
}

Recording* Positions::open_one_of(std::uint32_t thread, void* handle) noexcept {
  const std::uint64_t index = reinterpret_cast<std::uint64_t>(handle) - 1;
  if (index >= kRecordings) return nullptr;
  Recording& recording = recordings_[index];
  const bool is_open = recording.state.load(std::memory_order_acquire) == Recording::kOpen;
  return is_open && is_of(recording, thread) ? &recording : nullptr;
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
  recording->state.store(Recording::kEnded, std::memory_order_release);
}

Recording* Positions::take(std::uint32_t thread, std::uint64_t code) noexcept {
  const auto is_it = [&](const Recording& recording) {
    return is_of(recording, thread) && recording.code.load(std::memory_order_relaxed) == code;
  };
  for (Recording& recording : recordings_) {
    if (!is_it(recording) || !change(recording, Recording::kEnded, Recording::kTaken)) continue;
    if (is_it(recording)) return &recording;
    // Another thread, short of recordings, used it in between.
    recording.state.store(Recording::kEnded, std::memory_order_release);
  }
  return nullptr;
}

void Positions::give_back(Recording* recording) noexcept {
  if (recording != nullptr) recording->state.store(Recording::kFree, std::memory_order_release);
}

}  // namespace jitquill::intake::v8
