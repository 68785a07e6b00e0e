#include "agent/drain/pairing.hpp"

#include <algorithm>
#include <cstring>

namespace jitquill::drain {
namespace {

using lanes::RecordKind;

constexpr std::uint32_t kOnTheGround = OpenFrames::kGround;  // an interpreter's frame with none around it
// At frames, by leaves whose key is not that of the topmost: so many for each record, all together. A frame
// that is that deep had its own records before; and ends that were never entered cost no more than others.
constexpr std::uint32_t kLooksEach = 16;
constexpr std::uint32_t kMostLooks = 2 * Pairing::kMostOpen;

void put_event(EventBuffer& events, RunEventKind kind, std::uint64_t when_ns) noexcept {
  RunEvent& event = events.next();
  event = {};
  event.when_ns = when_ns;
  event.kind = kind;
}

}  // namespace

inline std::uint64_t Pairing::time_of(std::uint64_t ticks, Clock& clock) noexcept {
  last_ns_ = std::max(last_ns_, clock.ns_of(ticks));
  return last_ns_;
}

void Pairing::begin(std::uint64_t ticks, const Surroundings& around) noexcept {
  put_event(around.events, RunEventKind::kThreadBegin, time_of(ticks, around.clock));
}

void Pairing::learn_stack(std::uint64_t low, std::uint64_t high, StackKind kind,
                          const Surroundings& around) noexcept {
  (void)stacks_.learn(low, high, kind, [&](Stack& stack) { close_to(stack, 0, last_ns_, around.events); });
}

inline void Pairing::push(Stack& stack, const Frame& frame, EventBuffer& events) noexcept {
  if (open_ >= kMostOpen || !stack.frames.push(frame)) [[unlikely]] {
    ++unrecorded_;
    return;
  }
  if (frame.function() == Functions::kHidden) return;
  events.next() = {
      frame.since_ns,        0, 0, frame.function(), open_, RunEventKind::kEnter, FrameEnd::kNone,
      told_number_of(stack), 0};
  ++open_;
  ++calls_;
}

inline void Pairing::close(Stack& stack, FrameEnd how, std::uint64_t when_ns, EventBuffer& events) noexcept {
  const Frame frame = stack.frames.back();
  stack.frames.pop();
  const std::uint64_t lasted_ns = when_ns - frame.since_ns;
  if (frame.key() != 0) --open_keys_;
  if (frame.function() != Functions::kHidden) [[likely]]
    put_leave(stack, frame, how, when_ns, events);
  Stack* around = &stack;
  if (stack.frames.empty() && stack.under != Stack::kNone) [[unlikely]] {
    around = &stacks_[stack.under];
    stacks_.touch(*around);
    stack.kept = 0;
  }
  const std::size_t size = around->frames.size();
  // What a hidden frame called is called by whoever called it.
  const std::uint64_t inside_ns = frame.function() == Functions::kHidden ? frame.inside_ns : lasted_ns;
  if (size != 0) around->frames.back().inside_ns += inside_ns;
  around->kept = std::min(around->kept, size == 0 ? 0 : size - 1);
}

inline void Pairing::put_leave(const Stack& stack, const Frame& frame, FrameEnd how, std::uint64_t when_ns,
                               EventBuffer& events) noexcept {
  const std::uint64_t inside_ns = std::min(frame.inside_ns, when_ns - frame.since_ns);
  events.next() = {
      when_ns, frame.since_ns,        inside_ns, frame.function(), frame.depth(), RunEventKind::kLeave,
      how,     told_number_of(stack), 0};
  --open_;
}

void Pairing::come_from(Stack& before, const Stack& to, std::uint64_t when_ns, EventBuffer& events) noexcept {
  if (before.kind == StackKind::kSignals && before.under == to.number) close_to(before, 0, when_ns, events);
}

// All above the first `size` frames was removed.
void Pairing::close_to(Stack& stack, std::size_t size, std::uint64_t when_ns, EventBuffer& events) noexcept {
  stacks_.touch(stack);
  while (stack.frames.size() > size) close(stack, FrameEnd::kUnwound, when_ns, events);
}

// Whether or not anything was seen on its stack. Null: no memory.
inline Stack* Pairing::go_to(std::uint32_t slot, std::uint64_t when_ns, EventBuffer& events) noexcept {
  Stack* const before = stacks_.current();
  Stack* const stack = stacks_.enter(slot);
  if (before != stack && before != nullptr && stack != nullptr) [[unlikely]]
    come_from(*before, *stack, when_ns, events);
  return stack;
}

inline void Pairing::enter(std::uint32_t slot, FunctionNumber function, std::uint64_t when_ns,
                           EventBuffer& events, Place what) noexcept {
  Stack* const stack = go_to(slot, when_ns, events);
  if (stack == nullptr || function == Functions::kNone) [[unlikely]] {
    ++unrecorded_;
    return;
  }
  const std::uint32_t place = stack->place_of(slot);
  const std::uint32_t end = place + static_cast<std::uint32_t>(what);
  while (!stack->frames.empty() && stack->frames.back().place() < end)
    [[unlikely]] close(*stack, FrameEnd::kUnwound, when_ns, events);
  push(*stack, {when_ns, 0, Frame::who_of(function, open_), Frame::where_of(place, 0)}, events);
}

inline void Pairing::leave(std::uint32_t slot, FrameEnd how, std::uint64_t when_ns,
                           EventBuffer& events) noexcept {
  Stack* const stack = stacks_.find(slot);
  if (stack == nullptr) [[unlikely]] {
    ++unpaired_;
    return;
  }
  if (Stack* const before = stacks_.current(); stack != before) [[unlikely]] {
    stacks_.change(stack);
    if (before != nullptr) come_from(*before, *stack, when_ns, events);
  }
  const std::uint32_t place = stack->place_of(slot);
  if (!stack->frames.empty() && stack->frames.back().place() == place && stack->frames.back().key() == 0)
      [[likely]]
    close(*stack, how, when_ns, events);
  else
    leave_below(*stack, place, how, when_ns, events);
}

// Its frame is not the topmost. Places never ascend upwards, and of one place the native frame is first.
void Pairing::leave_below(Stack& stack, std::uint32_t place, FrameEnd how, std::uint64_t when_ns,
                          EventBuffer& events) noexcept {
  const auto frames = stack.frames.all();
  const auto at =
      std::ranges::partition_point(frames, [&](const Frame& frame) { return frame.place() > place; });
  if (at == frames.end() || at->place() != place || at->key() != 0) {
    ++unpaired_;
    return;
  }
  close_to(stack, static_cast<std::size_t>(at - frames.begin()) + 1, when_ns, events);
  close(stack, how, when_ns, events);
}

// Of frames at one place the inlined ones are on top. What is below `place` is gone, whether or not it is
// found.
void Pairing::leave_within(std::uint32_t slot, FunctionNumber function, std::uint64_t when_ns,
                           EventBuffer& events) noexcept {
  Stack* const stack = go_to(slot, when_ns, events);
  if (stack == nullptr) {
    ++unpaired_;
    return;
  }
  const std::uint32_t place = stack->place_of(slot);
  const auto frames = stack->frames.all();
  const auto is_above = [&](const Frame& frame) { return frame.place() > place; };
  const auto is_it = [&](const Frame& frame) { return frame.function() == function && frame.key() == 0; };
  auto at = std::ranges::partition_point(frames, is_above);
  at = std::find_if(at, frames.end(), is_it);
  if (at == frames.end()) {
    while (!stack->frames.empty() && stack->frames.back().place() < place)
      close(*stack, FrameEnd::kUnwound, when_ns, events);
    // It took more stack since it was entered: alloca(), and clang's frames with a sanitizer.
    if (!stack->frames.empty() && is_it(stack->frames.back()))
      close(*stack, FrameEnd::kReturned, when_ns, events);
    else
      ++unpaired_;
    return;
  }
  for (auto next = at; next != frames.end() && next->place() == at->place(); ++next) {
    if (is_it(*next)) at = next;
  }
  close_to(*stack, static_cast<std::size_t>(at - frames.begin()) + 1, when_ns, events);
  close(*stack, FrameEnd::kReturned, when_ns, events);
}

void Pairing::enter_key(std::uint32_t key, FunctionNumber function, std::uint64_t when_ns,
                        EventBuffer& events) noexcept {
  looks_left_ = std::min(looks_left_ + kLooksEach, kMostLooks);
  Stack* const stack = stacks_.any();
  if (stack == nullptr || function == Functions::kNone) {
    ++unrecorded_;
    return;
  }
  const std::uint32_t place = stack->frames.empty() ? kOnTheGround : stack->frames.back().place();
  const std::size_t before = stack->frames.size();
  push(*stack, {when_ns, 0, Frame::who_of(function, open_), Frame::where_of(place, key | Frame::kIsKey)},
       events);
  if (stack->frames.size() != before) ++open_keys_;
}

bool Pairing::leave_key_on(Stack& stack, std::uint32_t key, std::uint64_t when_ns,
                           EventBuffer& events) noexcept {
  std::size_t at = stack.frames.size();
  while (at != 0 && stack.frames[at - 1].key() != (key | Frame::kIsKey)) {
    if (looks_left_ == 0) return false;
    --looks_left_;
    --at;
  }
  if (at == 0) return false;
  close_to(stack, at, when_ns, events);
  close(stack, FrameEnd::kReturned, when_ns, events);
  return true;
}

void Pairing::leave_key(std::uint32_t key, std::uint64_t when_ns, EventBuffer& events) noexcept {
  looks_left_ = std::min(looks_left_ + kLooksEach, kMostLooks);
  Stack* const current = stacks_.current();
  bool is_closed = open_keys_ != 0 && current != nullptr && leave_key_on(*current, key, when_ns, events);
  for (std::size_t i = stacks_.size(); i-- > 0 && open_keys_ != 0 && looks_left_ != 0 && !is_closed;) {
    --looks_left_;
    is_closed = &stacks_[i] != current && leave_key_on(stacks_[i], key, when_ns, events);
  }
  if (!is_closed) ++unpaired_;
}

void Pairing::take_post(const Taken& post, std::uint64_t when_ns, const LaneReader& reader,
                        const Surroundings& around) noexcept {
  const auto payload = reader.payload(post);
  if (post.event == lanes::kPostThreadEnd) return;  // hooks may still come
  if (post.event != lanes::kPostStack) return around.events.post(when_ns, open_, {post.event, payload});
  ByteSource source(payload);
  const std::uint64_t low = source.u64();
  const std::uint64_t high = source.u64();
  if (!source.failed()) learn_stack(low, high, StackKind::kFiber, around);
}

// The stack at the front was taken by the hook whose record comes next: told behind that entry. Where a
// handler ran in between, or they were torn apart, in front of it. How many records were taken.
std::size_t Pairing::take_call_stack(std::span<const Taken> records, const LaneReader& reader,
                                     const Surroundings& around) noexcept {
  if (around.call_stacks == nullptr) return 1;
  const std::uint64_t when_ns = time_of(records[0].ticks, around.clock);
  const TakenStack taken = around.call_stacks->take(reader.payload(records[0]), when_ns);
  if (taken.function == Functions::kNone || taken.function == Functions::kHidden) return 1;
  const std::uint32_t depth = open_;
  const bool has_entry = records.size() > 1 && taken.is_of(records[1]);
  if (has_entry) take_one(records[1], reader, around);
  const bool is_open = has_entry && open_ != 0;
  around.events.stack(last_ns_, taken.function, is_open ? open_ - 1 : depth, taken.stack);
  return has_entry ? 2 : 1;
}

void Pairing::take(std::span<const Taken> records, const LaneReader& reader,
                   const Surroundings& around) noexcept {
  for (std::size_t at = 0; at < records.size();) {
    const std::size_t taken = take_calls(records.subspan(at), around);
    at += taken;
    if (taken != 0) continue;
    const Taken& record = records[at];
    if (record.kind == RecordKind::kPost && record.event == lanes::kPostCallStack) [[unlikely]] {
      at += take_call_stack(records.subspan(at), reader, around);
    } else {
      take_one(record, reader, around);
      ++at;
    }
  }
}

void Pairing::take_one(const Taken& record, const LaneReader& reader, const Surroundings& around) noexcept {
  const std::uint64_t when_ns = time_of(record.ticks, around.clock);
  switch (record.kind) {
    case RecordKind::kEnter:
      return enter(record.slot, around.functions.by_id(record.what), when_ns, around.events);
    case RecordKind::kLeave:
      return leave(record.slot, FrameEnd::kReturned, when_ns, around.events);
    case RecordKind::kTail:
      return leave(record.slot, FrameEnd::kTailCalled, when_ns, around.events);
    case RecordKind::kEnterAddress:
      return enter(record.slot, around.functions.by_address(record.what, when_ns), when_ns, around.events);
    case RecordKind::kEnterWithin:
      return enter(record.slot, around.functions.by_address(record.what, when_ns), when_ns, around.events,
                   Place::kWithin);
    case RecordKind::kLeaveWithin:
      return leave_within(record.slot, around.functions.by_address(record.what, when_ns), when_ns,
                          around.events);
    case RecordKind::kEnterKey:
      return enter_key(record.slot, around.functions.by_id(record.what), when_ns, around.events);
    case RecordKind::kLeaveKey:
      return leave_key(record.slot, when_ns, around.events);
    case RecordKind::kPost:
      return take_post(record, when_ns, reader, around);
    default:
      if (record.kind == kLost) put_lost(record, when_ns, around);
  }
}

void Pairing::put_lost(const Taken& lost, std::uint64_t when_ns, const Surroundings& around) noexcept {
  put_event(around.events, RunEventKind::kLost, when_ns);
  around.events.last().since_ns = std::min(around.clock.ns_of(lost.what), when_ns);
  around.events.last().amount = lost.slot;
}

void Pairing::end(FrameEnd how, std::uint64_t when_ns, const Surroundings& around) noexcept {
  last_ns_ = std::max(last_ns_, when_ns);
  for (std::size_t i = stacks_.size(); i-- > 0;) {
    stacks_.touch(stacks_[i]);
    while (!stacks_[i].frames.empty()) close(stacks_[i], how, last_ns_, around.events);
  }
  if (how == FrameEnd::kThreadEnd) put_event(around.events, RunEventKind::kThreadEnd, last_ns_);
}

void Pairing::put_head(Bytes& state) const noexcept {
  state.u64(last_ns_).u32(open_).u32(open_keys_).u64(unpaired_).u64(unrecorded_).u32(looks_left_);
}

void Pairing::put_changes(Bytes& state) noexcept {
  put_head(state);
  stacks_.put_changes(state);
}

void Pairing::put_all(Bytes& state) noexcept {
  put_head(state);
  stacks_.put_all(state);
}

bool Pairing::apply(ByteSource& state) noexcept {
  last_ns_ = state.u64();
  open_ = state.u32();
  open_keys_ = state.u32();
  unpaired_ = state.u64();
  unrecorded_ = state.u64();
  looks_left_ = state.u32();
  return stacks_.apply(state);
}

}  // namespace jitquill::drain
