#include "agent/stacks/walk_memo.hpp"

#include <algorithm>
#include <cstring>

namespace jitquill::stacks {

void WalkMemo::clear() noexcept {
  frames_.clear();
  bytes_.clear();
}

WalkMemo::Frame WalkMemo::frame_of(const Registers& registers, std::uint64_t address) noexcept {
  constexpr std::size_t kOther[] = {Registers::kPc,  Registers::kBx,  Registers::kBp, Registers::kR12,
                                    Registers::kR13, Registers::kR14, Registers::kR15};
  Frame frame{address, registers.sp(), {}};
  for (std::size_t i = 0; i < std::size(kOther); ++i) frame.other[i] = registers.value[kOther[i]];
  return frame;
}

std::span<const WalkMemo::Frame> WalkMemo::find(const Registers& registers, std::uint64_t address,
                                                const Slice& slice) noexcept {
  const auto frames = frames_.all();
  const Frame wanted = frame_of(registers, address);
  const auto found = std::ranges::lower_bound(frames, wanted.sp, {}, &Frame::sp);
  if (found == frames.end() || std::memcmp(&*found, &wanted, sizeof wanted) != 0) return {};
  const std::uint64_t end = frames.back().sp;
  const std::uint64_t in_slice = wanted.sp - slice.at;
  const auto size = static_cast<std::size_t>(end - wanted.sp);
  const bool has_all = wanted.sp >= slice.at && in_slice <= slice.bytes.size() &&
                       size <= slice.bytes.size() - static_cast<std::size_t>(in_slice);
  const bool is_same =
      has_all && std::memcmp(slice.bytes.data() + in_slice, bytes_.data() + (wanted.sp - low_), size) == 0;
  return is_same ? std::span<const Frame>(found, frames.end()) : std::span<const Frame>();
}

void WalkMemo::note(const Registers& registers, std::uint64_t address) noexcept {
  if (!coming_.push(frame_of(registers, address))) coming_.clear();
}

// A walk through several stacks is not kept, nor one whose frames do not ascend for lack of memory.
void WalkMemo::keep(const Slice& slice, std::span<const Frame> rest) noexcept {
  for (const Frame& frame : rest) {
    if (!coming_.push(frame)) return clear();
  }
  const auto frames = coming_.all();
  const bool ascends = std::ranges::adjacent_find(frames, [](const Frame& a, const Frame& b) {
                         return a.sp >= b.sp;
                       }) == frames.end();
  if (frames.empty() || !ascends || frames.front().sp < slice.at) return clear();
  const std::uint64_t end = frames.back().sp;
  const std::uint64_t size = end - slice.at;
  if (size > slice.bytes.size()) return clear();
  if (!bytes_.reserve(static_cast<std::size_t>(size))) return clear();
  bytes_.set_size(static_cast<std::size_t>(size));
  if (size != 0) std::memcpy(bytes_.data(), slice.bytes.data(), static_cast<std::size_t>(size));
  low_ = slice.at;
  frames_.clear();
  frames_.swap(coming_);
}

}  // namespace jitquill::stacks
