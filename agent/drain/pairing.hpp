// One thread's records become its events: each entry finds its end.
//
// Native frames find each other by their slot, within one stack (stacks.hpp):
//   entry    closes what is open at its slot and below: an exception or a longjmp removed it, and nobody said
//            so until now
//   exit     closes what is open below its slot likewise, and the frame at its slot as returned
//   tail     as an exit; the callee enters at the same slot, and has the same frames around it
// Frames whose compiler calls us at their entry and exit (-finstrument-functions) are known by where in their
// frame the call was made, and by their function: one that was inlined stands at the same place as the
// function around it, and an exit may be a jump, which stands a little above.
//   entry    closes what is open below its place
//   exit     closes the outermost frame of its function that is not above its place, and what is below that
//
// An interpreter's frames find each other by their key, last in, first out. They stand in the stack of the
// event before them, on top of what is open there, and go with it. The thread has one depth for all.
//
// A function that no pattern names (Functions::kHidden) has a frame like others, and no event; what it called
// stands in what called it.
//
// A handler on a signal stack is over before what it interrupted goes on: an event there removes what is open
// on the signal stack.
//
// The time of a frame's callees: of those on its own stack; of a handler's on a signal stack the frame that
// it interrupted. A fiber's own frames are nobody's callees.
//
// Context   [drain]; any one thread.
// Promises  times never run backwards; each kEnter gets one kLeave at the latest at end(). Linear in the
//           records, however deep. An exit without an entry is counted and passed over.
// Does not  read chunks, nor name anything (functions.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "agent/drain/call_stacks.hpp"
#include "agent/drain/clock.hpp"
#include "agent/drain/event_buffer.hpp"
#include "agent/drain/functions.hpp"
#include "agent/drain/lane_reader.hpp"
#include "agent/drain/stacks.hpp"

namespace jitquill::drain {

struct Surroundings {
  Clock& clock;
  Functions& functions;
  EventBuffer& events;
  CallStacks* call_stacks = nullptr;  // null: stacks are passed over
};

class Pairing {
 public:
  // Of one thread. A program whose frames end without a word, as an interpreter's may that never tells of
  // errors, would fill the host's memory otherwise.
  static constexpr std::uint32_t kMostOpen = std::uint32_t{1} << 20;

  // Before anything else of a thread.
  void begin(std::uint64_t ticks, const Surroundings& around) noexcept;
  // As a chunk's header has them; 0 = unknown.
  void learn_stack(std::uint64_t low, std::uint64_t high, StackKind kind,
                   const Surroundings& around) noexcept;
  // Posts' payloads are in `reader`, and must stay until `around.events` is flushed.
  void take(std::span<const Taken> records, const LaneReader& reader, const Surroundings& around) noexcept;
  // Closes all that is open. `how`: kThreadEnd, kProcessEnd, kOpen; the first ends the thread too.
  void end(FrameEnd how, std::uint64_t when_ns, const Surroundings& around) noexcept;

  std::uint64_t last_ns() const noexcept { return last_ns_; }
  std::uint32_t open() const noexcept { return open_; }
  std::uint64_t calls() const noexcept { return calls_; }        // kEnter events, since it was made
  std::uint64_t unpaired() const noexcept { return unpaired_; }  // exits without an entry
  std::uint64_t unrecorded() const noexcept {
    return unrecorded_;
  }  // entries beyond kMostOpen, or without memory

  // | last_ns | open | unpaired | stacks |
  void put_changes(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  static std::uint16_t told_number_of(const Stack& stack) noexcept {
    constexpr std::uint32_t kMost = 0xFFFF;
    return static_cast<std::uint16_t>(stack.number < kMost ? stack.number : kMost);
  }
  std::size_t take_calls(std::span<const Taken> records, const Surroundings& around) noexcept;
  template <bool kHasNatives>
  std::size_t take_plain(std::span<const Taken> records, Stack& stack, const Surroundings& around) noexcept;
  template <bool kHasNatives, class Plain>
  std::size_t pair_plain(std::span<const Taken> records, const Plain& plain, Stack& stack,
                         EventBuffer& buffer) noexcept;
  void take_one(const Taken& record, const LaneReader& reader, const Surroundings& around) noexcept;
  std::uint64_t time_of(std::uint64_t ticks, Clock& clock) noexcept;
  enum class Place : std::uint32_t { kOfReturn = 1, kWithin = 0 };  // whether nothing else can be open there
  void enter(std::uint32_t slot, FunctionNumber function, std::uint64_t when_ns, EventBuffer& events,
             Place what = Place::kOfReturn) noexcept;
  void enter_key(std::uint32_t key, FunctionNumber function, std::uint64_t when_ns,
                 EventBuffer& events) noexcept;
  void push(Stack& stack, const Frame& frame, EventBuffer& events) noexcept;
  Stack* go_to(std::uint32_t slot, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void leave(std::uint32_t slot, FrameEnd how, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void leave_below(Stack& stack, std::uint32_t place, FrameEnd how, std::uint64_t when_ns,
                   EventBuffer& events) noexcept;
  void leave_within(std::uint32_t slot, FunctionNumber function, std::uint64_t when_ns,
                    EventBuffer& events) noexcept;
  void leave_key(std::uint32_t key, std::uint64_t when_ns, EventBuffer& events) noexcept;
  bool leave_key_on(Stack& stack, std::uint32_t key, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void come_from(Stack& before, const Stack& to, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void close_to(Stack& stack, std::size_t size, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void close(Stack& stack, FrameEnd how, std::uint64_t when_ns, EventBuffer& events) noexcept;
  void put_leave(const Stack& stack, const Frame& frame, FrameEnd how, std::uint64_t when_ns,
                 EventBuffer& events) noexcept;
  void take_post(const Taken& post, std::uint64_t when_ns, const LaneReader& reader,
                 const Surroundings& around) noexcept;
  std::size_t take_call_stack(std::span<const Taken> records, const LaneReader& reader,
                              const Surroundings& around) noexcept;
  void put_lost(const Taken& lost, std::uint64_t when_ns, const Surroundings& around) noexcept;
  void put_head(Bytes& state) const noexcept;

  Stacks stacks_;
  std::uint64_t last_ns_ = 0;
  std::uint32_t open_ = 0;
  std::uint32_t open_keys_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t unpaired_ = 0;
  std::uint64_t unrecorded_ = 0;
  std::uint32_t looks_left_ = 0;
  std::size_t at_once_ = 8;  // records that are looked at together: as many as went well lately
};

}  // namespace jitquill::drain
