// The stacks that one thread runs on, and which of them a slot lies in.
//
// A stack is known by its bounds (a chunk's header, jitquill_stack()), or seen: a slot in no stack that lies
// at most 16 KiB below the lowest slot of a seen stack, or 4 KiB above its highest, is of that stack and
// widens it; any other begins a new one. So fibers that nobody told of are told apart as long as none comes
// nearer than 16 KiB to its neighbour's, and a frame of more than 16 KiB on such a stack is taken for a new
// one, whose frames end by their own exits only.
//
// A signal stack may lie in another, and a fiber's in the thread's own (arrays on them): slots in there are
// the inner one's.
//
// When bounds are told, seen stacks in them become that stack; a known one with another end was another
// stack, whose memory is used again: it is retired.
//
// Context   [drain]; any one thread.
// Promises  a stack has a number for ever, as they came. A slot's stack is one comparison where it is that of
//           the slot before, else a search of their logarithm.
#pragma once

#include <cstdint>

#include "agent/lanes/record.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/model/run.hpp"

namespace jitquill::drain {

// An open frame.
struct Frame {
  static constexpr std::uint32_t kIsKey = 1u << 31;

  static constexpr unsigned kHigh = 32;
  static constexpr std::uint64_t who_of(FunctionNumber function, std::uint32_t depth) noexcept {
    return function | std::uint64_t{depth} << kHigh;
  }
  static constexpr std::uint64_t where_of(std::uint32_t place, std::uint32_t key) noexcept {
    return key | std::uint64_t{place} << kHigh;
  }
  FunctionNumber function() const noexcept { return static_cast<FunctionNumber>(who); }
  std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(who >> kHigh); }
  // In its stack; of an interpreter's, that of the frame around it.
  std::uint32_t place() const noexcept { return static_cast<std::uint32_t>(where >> kHigh); }
  // kIsKey and the key of an interpreter's frame; 0 = a native one.
  std::uint32_t key() const noexcept { return static_cast<std::uint32_t>(where); }

  std::uint64_t since_ns;
  std::uint64_t inside_ns;  // of it in callees that have ended
  std::uint64_t who;        // so that each pair is moved and compared at once
  std::uint64_t where;
};

// A stack's, the outermost first. Below it are two that nobody opened, so that who looks at the frame around
// another need not ask whether there is one.
class OpenFrames {
 public:
  static constexpr std::uint32_t kGround = lanes::kSlotMask + 1;  // their place, above all others

  std::span<Frame> all() noexcept { return size() == 0 ? std::span<Frame>() : frames_.all().subspan(kBelow); }
  std::size_t size() const noexcept { return frames_.empty() ? 0 : frames_.size() - kBelow; }
  bool empty() const noexcept { return frames_.size() <= kBelow; }
  Frame& operator[](std::size_t at) noexcept { return frames_[kBelow + at]; }
  const Frame& operator[](std::size_t at) const noexcept { return frames_[kBelow + at]; }
  Frame& back() noexcept { return frames_.back(); }
  // False: no memory.
  bool push(const Frame& frame) noexcept { return has_ground() && frames_.push(frame); }
  void pop() noexcept { frames_.pop(); }
  void cut(std::size_t size) noexcept { frames_.cut(kBelow + size); }
  void clear() noexcept { cut(0); }

  // For many changes at once: from begin(), where the outermost is, to below limit(), which is behind the end
  // of all. set_end() says what is open then. False: no memory.
  bool reserve_one() noexcept { return has_ground() && frames_.reserve(frames_.size() + 1); }
  Frame* begin() noexcept { return frames_.data() + kBelow; }
  Frame* end() noexcept { return frames_.data() + frames_.size(); }
  Frame* limit() noexcept { return frames_.data() + frames_.room(); }
  void set_end(const Frame* end) noexcept {
    frames_.set_size(static_cast<std::size_t>(end - frames_.data()));
  }

 private:
  static constexpr std::size_t kBelow = 2;
  bool has_ground() noexcept {
    return !frames_.empty() || frames_.grow_to(kBelow, Frame{0, 0, 0, Frame::where_of(kGround, 0)});
  }

  GrowingArray<Frame> frames_;
};

// A stack may lie in one of a greater kind.
enum class StackKind : std::uint8_t { kSignals, kFiber, kOwn };
inline constexpr std::uint8_t kStackKinds = 3;

struct Stack {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Places ascend with addresses: slots do not, since 2 GiB of them are a circle.
  std::uint32_t place_of(std::uint32_t slot) const noexcept { return (slot - anchor) & lanes::kSlotMask; }
  bool covers(std::uint32_t slot) const noexcept { return place_of(slot) - low < span; }
  // For certain: between those that lie in it may be slots of its own.
  bool contains(std::uint32_t slot) const noexcept {
    return covers(slot) && place_of(slot) - hole >= hole_span;
  }
  std::uint32_t low_slot() const noexcept { return (low + anchor) & lanes::kSlotMask; }

  OpenFrames frames;         // places never ascend from the first to the last
  std::size_t kept = 0;      // frames that are as they were when the state was put
  std::uint32_t anchor = 0;  // the slot whose place is 0
  std::uint32_t low = 0;     // place of the lowest slot
  std::uint32_t span = 0;    // slots; 0 = nowhere yet
  std::uint32_t hole = 0;    // from the lowest to the highest place of those that lie in this one
  std::uint32_t hole_span = 0;
  std::uint32_t number = 0;
  std::uint32_t under = kNone;  // signal stack: the stack that its handler interrupted
  StackKind kind = StackKind::kFiber;
  bool is_known = false;
  bool is_in_another = false;
  bool is_retired = false;
  bool is_touched = false;
};

class Stacks {
 public:
  Stacks() noexcept = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // The stack of the event before; null = there was none.
  Stack* current() noexcept { return current_; }
  // The slot's stack, from now on current. Null: no memory.
  Stack* enter(std::uint32_t slot) noexcept {
    if (current_ != nullptr && current_->contains(slot)) [[likely]]
      return current_;
    return change(find_or_make(slot));
  }
  // Null: the slot is in no stack that we know.
  Stack* find(std::uint32_t slot) noexcept {
    if (current_ != nullptr && current_->contains(slot)) [[likely]]
      return current_;
    return find_slowly(slot);
  }
  Stack* change(Stack* to) noexcept;
  // current(), or one that is nowhere yet.
  Stack* any() noexcept;

  // Bounds are told. retire(stack) closes what is open on a stack that is gone. False: no memory.
  template <class Retire>
  bool learn(std::uint64_t low, std::uint64_t high, StackKind kind, Retire retire) noexcept {
    Told told;
    if (!make_told(low, high, told)) return true;
    while (Stack* const gone = gone_by(told, kind)) {
      retire(*gone);
      forget_place(*gone);
    }
    return place_told(told, kind);
  }

  std::size_t size() const noexcept { return stacks_.size(); }
  Stack& operator[](std::size_t index) noexcept { return *stacks_[index]; }
  // Its state goes into the next commit.
  void touch(Stack& stack) noexcept {
    if (stack.is_touched) return;
    stack.is_touched = touched_.push(stack.number);
  }

  // | current + 1 | stacks: count, {number, bounds, frames: kept, count, {...}} |. False at once: damaged.
  void put_changes(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  struct Told {
    std::uint32_t low_slot;
    std::uint32_t span;
  };
  static bool make_told(std::uint64_t low, std::uint64_t high, Told& told) noexcept;
  static bool overlap(const Stack& stack, const Told& told) noexcept;
  static bool is_nested(const Stack& stack, const Told& told, StackKind kind) noexcept;
  template <class IsWanted>
  Stack* find_overlapping(const Told& told, IsWanted is_wanted) noexcept;
  Stack* gone_by(const Told& told, StackKind kind) noexcept;
  Stack* adopt_seen(const Told& told, StackKind kind) noexcept;
  void make_holes(Stack& placed, const Told& told) noexcept;
  std::size_t most_nested() const noexcept;
  bool place_told(const Told& told, StackKind kind) noexcept;
  static bool merge(Stack& into, Stack& from) noexcept;
  static void set_bounds(Stack& stack, const Told& told) noexcept;
  std::size_t place_above(std::uint32_t slot) const noexcept;
  Stack* find_slowly(std::uint32_t slot) noexcept;
  Stack* find_or_make(std::uint32_t slot) noexcept;
  Stack* see(std::uint32_t slot) noexcept;
  Stack* make() noexcept;
  bool insert(Stack& stack) noexcept;
  bool move_in_order(Stack& stack) noexcept;
  void forget_place(Stack& stack) noexcept;
  void put_stack(const Stack& stack, std::size_t kept, Bytes& state) noexcept;
  bool apply_stack(ByteSource& state) noexcept;
  void forget_changes() noexcept;

  GrowingArray<Stack*> stacks_;          // by number
  GrowingArray<std::uint32_t> by_slot_;  // numbers of those that are somewhere, by their lowest slot
  GrowingArray<std::uint32_t> touched_;
  std::uint32_t nested_ = 0;  // those that are in another
  Stack* current_ = nullptr;
};

}  // namespace jitquill::drain
