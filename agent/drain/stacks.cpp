#include "agent/drain/stacks.hpp"

#include <algorithm>
#include <new>

namespace jitquill::drain {
namespace {

constexpr std::uint32_t kMiddle = std::uint32_t{1} << (lanes::kSlotBits - 1);  // 1 GiB
constexpr std::uint32_t kReachDown = 16 * 1024 / 8;
constexpr std::uint32_t kReachUp = 4 * 1024 / 8;
constexpr std::uint64_t kMostStacks = std::uint64_t{1} << 24;

std::uint32_t end_of(std::uint32_t low_slot, std::uint32_t span) noexcept {
  return (low_slot + span) & lanes::kSlotMask;
}

}  // namespace

Stacks::~Stacks() {
  for (Stack* stack : stacks_.all()) delete stack;
}

Stack* Stacks::change(Stack* to) noexcept {
  if (to == nullptr) return nullptr;
  if (to->kind == StackKind::kSignals && to != current_ && to->frames.empty() && current_ != nullptr)
    to->under = current_->number;
  current_ = to;
  touch(*to);
  return to;
}

Stack* Stacks::any() noexcept {
  if (current_ != nullptr) {
    touch(*current_);
    return current_;
  }
  return change(stacks_.empty() ? make() : stacks_[0]);
}

Stack* Stacks::make() noexcept {
  auto* const stack = new (std::nothrow) Stack;
  if (stack == nullptr || !stacks_.push(stack)) {
    delete stack;
    return nullptr;
  }
  stack->number = static_cast<std::uint32_t>(stacks_.size() - 1);
  return stack;
}

// How many begin at the slot or below it.
std::size_t Stacks::place_above(std::uint32_t slot) const noexcept {
  const auto all = by_slot_.all();
  const auto at =
      std::ranges::upper_bound(all, slot, {}, [&](std::uint32_t n) { return stacks_[n]->low_slot(); });
  return static_cast<std::size_t>(at - all.begin());
}

// How far below its slots' nearest neighbour a stack may begin.
std::size_t Stacks::most_nested() const noexcept {
  constexpr std::size_t kAlways = 3;
  return std::min(by_slot_.size(), kAlways + nested_);
}

// Slots are a circle: below the lowest is the highest. Of several in each other it is the innermost.
Stack* Stacks::find_slowly(std::uint32_t slot) noexcept {
  Stack* found = nullptr;
  std::size_t at = place_above(slot);
  for (std::size_t looks = most_nested(); looks != 0; --looks) {
    at = (at == 0 ? by_slot_.size() : at) - 1;
    Stack* const below = stacks_[by_slot_[at]];
    if (below->covers(slot) && (found == nullptr || below->span < found->span)) found = below;
  }
  return found;
}

Stack* Stacks::find_or_make(std::uint32_t slot) noexcept {
  if (Stack* const found = find_slowly(slot)) return found;
  return see(slot);
}

Stack* Stacks::see(std::uint32_t slot) noexcept {
  if (!by_slot_.empty()) {
    const std::size_t above = place_above(slot);
    Stack* const next = stacks_[by_slot_[above == by_slot_.size() ? 0 : above]];
    const std::uint32_t down = (next->low_slot() - slot) & lanes::kSlotMask;
    if (!next->is_known && down <= kReachDown && down <= next->low) {
      const bool wraps = slot > next->low_slot();
      next->low -= down;
      next->span += down;
      if (wraps) return move_in_order(*next) ? next : nullptr;
      touch(*next);
      return next;
    }
    Stack* const below = stacks_[by_slot_[above == 0 ? by_slot_.size() - 1 : above - 1]];
    const std::uint32_t up = below->place_of(slot) - (below->low + below->span - 1);
    if (!below->is_known && up <= kReachUp) {
      below->span += up;
      touch(*below);
      return below;
    }
  }
  // One that only has an interpreter's frames so far is this one.
  const bool is_nowhere = stacks_.size() == 1 && stacks_[0]->span == 0 && !stacks_[0]->is_retired;
  Stack* const stack = is_nowhere ? stacks_[0] : make();
  if (stack == nullptr) return nullptr;
  stack->anchor = (slot - kMiddle) & lanes::kSlotMask;
  stack->low = kMiddle;
  stack->span = 1;
  return insert(*stack) ? stack : nullptr;
}

bool Stacks::insert(Stack& stack) noexcept {
  touch(stack);
  return by_slot_.insert(place_above(stack.low_slot()), stack.number);
}

// Its lowest slot is another: where a search finds it, too.
bool Stacks::move_in_order(Stack& stack) noexcept {
  const auto all = by_slot_.all();
  by_slot_.erase(static_cast<std::size_t>(std::ranges::find(all, stack.number) - all.begin()));
  return insert(stack);
}

void Stacks::forget_place(Stack& stack) noexcept {
  const auto all = by_slot_.all();
  const auto at = std::ranges::find(all, stack.number);
  if (at != all.end()) by_slot_.erase(static_cast<std::size_t>(at - all.begin()));
  nested_ -= stack.is_in_another ? 1 : 0;
  stack.is_in_another = false;
  stack.is_retired = true;
  stack.span = 0;
  touch(stack);
  if (current_ == &stack) current_ = nullptr;
}

bool Stacks::make_told(std::uint64_t low, std::uint64_t high, Told& told) noexcept {
  if (high <= low) return false;
  // Where the bounds are wider than slots can say, the upper end is what is used.
  const std::uint64_t span = std::min<std::uint64_t>((high - low) >> 3, kMiddle);
  told = {lanes::slot_of(high - (span << 3)), static_cast<std::uint32_t>(span)};
  return span != 0;
}

bool Stacks::overlap(const Stack& stack, const Told& told) noexcept {
  const std::uint32_t ahead = (stack.low_slot() - told.low_slot) & lanes::kSlotMask;
  const std::uint32_t behind = (told.low_slot - stack.low_slot()) & lanes::kSlotMask;
  return stack.span != 0 && (ahead < told.span || behind < stack.span);
}

// The one of the smaller kind lies in the other.
bool Stacks::is_nested(const Stack& stack, const Told& told, StackKind kind) noexcept {
  if (!stack.is_known || stack.kind == kind) return false;
  const std::uint32_t ahead = (stack.low_slot() - told.low_slot) & lanes::kSlotMask;
  const std::uint32_t behind = (told.low_slot - stack.low_slot()) & lanes::kSlotMask;
  return kind < stack.kind ? behind + told.span <= stack.span : ahead + stack.span <= told.span;
}

// Of the few that may overlap: they begin in it, or are the nearest below.
template <class IsWanted>
Stack* Stacks::find_overlapping(const Told& told, IsWanted is_wanted) noexcept {
  const std::size_t count = by_slot_.size();
  const std::size_t below = most_nested();
  const std::size_t first = place_above(told.low_slot) + count - below;
  for (std::size_t i = 0; i < count; ++i) {
    Stack* const stack = stacks_[by_slot_[(first + i) % count]];
    if (overlap(*stack, told)) {
      if (is_wanted(*stack)) return stack;
    } else if (i > below) {
      return nullptr;
    }
  }
  return nullptr;
}

// A known stack that lay where another lies now; the same upper end is the same stack, grown. The thread's
// own stays, however a runtime tells its bounds.
Stack* Stacks::gone_by(const Told& told, StackKind kind) noexcept {
  return find_overlapping(told, [&](const Stack& stack) {
    const bool is_same = end_of(stack.low_slot(), stack.span) == end_of(told.low_slot, told.span);
    return stack.is_known && stack.kind != StackKind::kOwn && !is_same && !is_nested(stack, told, kind);
  });
}

void Stacks::set_bounds(Stack& stack, const Told& told) noexcept {
  if (stack.span == 0) stack.anchor = (end_of(told.low_slot, told.span) - kMiddle) & lanes::kSlotMask;
  stack.low = stack.place_of(told.low_slot);
  stack.span = told.span;
  stack.is_known = true;
}

// Frames of two stacks that are one: by their places.
bool Stacks::merge(Stack& into, Stack& from) noexcept {
  for (Frame& frame : from.frames.all()) {
    if (frame.place() != OpenFrames::kGround) {
      const std::uint32_t place = into.place_of((frame.place() + from.anchor) & lanes::kSlotMask);
      frame.where = Frame::where_of(place, frame.key());
    }
    if (!into.frames.push(frame)) return false;
  }
  from.frames.clear();
  from.kept = into.kept = 0;
  std::ranges::stable_sort(into.frames.all(),
                           [](const Frame& a, const Frame& b) { return a.place() > b.place(); });
  return true;
}

// What is to have these bounds: the first that lies in them, with the frames of the others; null = none does.
Stack* Stacks::adopt_seen(const Told& told, StackKind kind) noexcept {
  Stack* const stack =
      find_overlapping(told, [&](const Stack& other) { return !is_nested(other, told, kind); });
  if (stack == nullptr) return nullptr;
  while (Stack* const other = find_overlapping(
             told, [&](const Stack& o) { return &o != stack && !is_nested(o, told, kind); })) {
    const bool was_current = current_ == other;
    if (!merge(*stack, *other)) return nullptr;
    forget_place(*other);
    if (was_current) current_ = stack;
  }
  return stack;
}

void widen_hole(Stack& outer, const Stack& inner) noexcept {
  const std::uint32_t low = outer.place_of(inner.low_slot());
  const std::uint32_t end = low + inner.span;
  const std::uint32_t old_end = outer.hole + outer.hole_span;
  const bool had_none = outer.hole_span == 0;
  outer.hole = had_none ? low : std::min(outer.hole, low);
  outer.hole_span = (had_none ? end : std::max(old_end, end)) - outer.hole;
}

void Stacks::make_holes(Stack& placed, const Told& told) noexcept {
  (void)find_overlapping(told, [&](Stack& other) {
    if (&other == &placed || !is_nested(other, told, placed.kind)) return false;
    Stack& outer = other.kind > placed.kind ? other : placed;
    Stack& inner = &outer == &placed ? other : placed;
    widen_hole(outer, inner);
    nested_ += inner.is_in_another ? 0 : 1;
    inner.is_in_another = true;
    touch(outer);
    touch(inner);
    return false;
  });
}

bool Stacks::place_told(const Told& told, StackKind kind) noexcept {
  Stack* stack = adopt_seen(told, kind);
  const bool is_nowhere =
      stack == nullptr && stacks_.size() == 1 && stacks_[0]->span == 0 && !stacks_[0]->is_retired;
  if (is_nowhere) stack = stacks_[0];
  if (stack == nullptr) stack = make();
  if (stack == nullptr) return false;
  const bool was_placed = stack->span != 0;
  if (was_placed && stack->low_slot() == told.low_slot && stack->span == told.span && stack->is_known)
    return true;
  if (!stack->is_known || kind != StackKind::kFiber) stack->kind = kind;
  set_bounds(*stack, told);
  if (!(was_placed ? move_in_order(*stack) : insert(*stack))) return false;
  make_holes(*stack, told);
  return true;
}

void Stacks::put_stack(const Stack& stack, std::size_t kept, Bytes& state) noexcept {
  state.uleb128(stack.number).u32(stack.anchor).u32(stack.low).u32(stack.span).u32(stack.under);
  state.u32(stack.hole).u32(stack.hole_span);
  state.u8(static_cast<std::uint8_t>(stack.is_known | stack.is_retired << 1 | stack.is_in_another << 2));
  state.u8(static_cast<std::uint8_t>(stack.kind));
  state.uleb128(kept).uleb128(stack.frames.size() - kept);
  for (std::size_t i = kept; i < stack.frames.size(); ++i) {
    const Frame& frame = stack.frames[i];
    state.u64(frame.since_ns).u64(frame.inside_ns).u64(frame.who).u64(frame.where);
  }
}

void Stacks::put_changes(Bytes& state) noexcept {
  state.uleb128(current_ == nullptr ? 0 : current_->number + std::uint64_t{1}).uleb128(touched_.size());
  for (const std::uint32_t number : touched_.all()) {
    Stack& stack = *stacks_[number];
    put_stack(stack, stack.kept, state);
  }
  forget_changes();
}

void Stacks::put_all(Bytes& state) noexcept {
  state.uleb128(current_ == nullptr ? 0 : current_->number + std::uint64_t{1}).uleb128(stacks_.size());
  for (const Stack* stack : stacks_.all()) put_stack(*stack, 0, state);
  forget_changes();
}

void Stacks::forget_changes() noexcept {
  for (const std::uint32_t number : touched_.all()) {
    stacks_[number]->kept = stacks_[number]->frames.size();
    stacks_[number]->is_touched = false;
  }
  touched_.clear();
  if (current_ != nullptr) touch(*current_);  // what comes next is on it, and asks no more
}

bool Stacks::apply_stack(ByteSource& state) noexcept {
  const std::uint64_t number = state.uleb128(kMostStacks);
  if (number > stacks_.size()) return false;
  if (number == stacks_.size() && make() == nullptr) return false;
  Stack& stack = *stacks_[number];
  stack.anchor = state.u32() & lanes::kSlotMask;
  stack.low = state.u32() & lanes::kSlotMask;
  stack.span = state.u32() & lanes::kSlotMask;
  stack.under = state.u32();
  stack.hole = state.u32();
  stack.hole_span = state.u32();
  const std::uint8_t flags = state.u8();
  stack.is_known = (flags & 1) != 0;
  stack.is_retired = (flags & 2) != 0;
  stack.is_in_another = (flags & 4) != 0;
  const std::uint8_t kind = state.u8();
  if (kind >= kStackKinds) return false;
  stack.kind = static_cast<StackKind>(kind);
  stack.frames.cut(state.uleb128(stack.frames.size()));
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    Frame frame{};
    frame.since_ns = state.u64();
    frame.inside_ns = state.u64();
    frame.who = state.u64();
    frame.where = state.u64();
    if (!state.failed() && !stack.frames.push(frame)) return false;
  }
  stack.kept = stack.frames.size();
  return !state.failed();
}

bool Stacks::apply(ByteSource& state) noexcept {
  const std::uint64_t current = state.uleb128(kMostStacks);
  const std::uint64_t count = state.uleb128(kMostStacks);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!apply_stack(state)) return false;
  }
  if (state.failed() || current > stacks_.size()) return false;
  current_ = current == 0 ? nullptr : stacks_[current - 1];
  for (const Stack* stack : stacks_.all()) {
    if (stack->under != Stack::kNone && stack->under >= stacks_.size()) return false;
  }
  by_slot_.clear();
  nested_ = 0;
  for (const Stack* stack : stacks_.all()) {
    if (stack->span != 0 && !by_slot_.push(stack->number)) return false;
    nested_ += stack->is_in_another ? 1 : 0;
  }
  std::ranges::sort(by_slot_.all(), {}, [&](std::uint32_t n) { return stacks_[n]->low_slot(); });
  return true;
}

}  // namespace jitquill::drain
