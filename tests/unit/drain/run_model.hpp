// A thread that calls, returns, throws, tail-calls, changes fibers and is interrupted, at random: its
// records, and by a bookkeeping of its own the events that must come of them.
//
// The model knows at once what the drain only learns later: a frame that was removed is `gone` until the next
// record of its stack, or of the stack that a handler interrupted.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "agent/lanes/record.hpp"
#include "writer/model/run.hpp"

namespace jitquill::tests {

struct ModelRecord {
  lanes::RecordKind kind;
  std::uint64_t what;
  std::uint64_t slot;  // an address; of keys the key
  std::uint64_t ticks;
};

class RunModel {
 public:
  static constexpr std::uint64_t kFirstStack = 0x7f00'0000'0000;
  static constexpr std::uint64_t kApart = 0x100'0000;
  static constexpr std::size_t kFibers = 3;  // and the stack of signals behind them

  explicit RunModel(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i <= kFibers; ++i) stacks_.push_back({kFirstStack + i * kApart, {}});
  }

  static std::uint64_t stack_top(std::size_t i) { return kFirstStack + i * kApart; }
  static constexpr std::size_t kSignals = kFibers;

  void step() {
    const unsigned dice = static_cast<unsigned>(random_() % 100);
    if (in_handler_ && dice < 12) return end_handler(dice < 4);
    if (!in_handler_ && dice < 5) return begin_handler();
    if (!in_handler_ && dice < 12) {
      at_ = random_() % kFibers;
      return;
    }
    if (dice < 50) return call();
    if (dice < 58) return call_by_key();
    if (dice < 64) return tail();
    if (dice < 72) return remove();
    back();
  }
  void end_handlers() {
    if (in_handler_) end_handler(false);
  }
  // Ends at the last record's time, as a thread does. No handler runs then.
  void end(FrameEnd how) {
    for (std::size_t i = order_.size(); i-- > 0;) {
      Stack& stack = stacks_[order_[i]];
      while (!stack.frames.empty()) close(stack, how);
    }
  }

  std::vector<ModelRecord> records;
  std::vector<RunEvent> events;
  std::vector<std::pair<std::size_t, std::size_t>> handlers;  // their records: [first, behind)
  std::uint64_t now = 1'000;

 private:
  struct Frame {
    std::uint64_t slot;
    std::uint64_t since;
    std::uint64_t inside;
    std::uint64_t function;
    std::uint32_t depth;
    std::uint64_t key;  // 0 = native
    std::uint64_t callees_slot;
    bool is_gone;
  };
  struct Stack {
    std::uint64_t top;
    std::vector<Frame> frames;
  };

  Stack& here() { return stacks_[at_]; }
  std::uint64_t tick() { return now += random_() % 4; }
  std::uint64_t callees_slot(std::uint64_t below) { return below - 8 * (1 + random_() % 40); }

  void record(lanes::RecordKind kind, std::uint64_t what, std::uint64_t slot) {
    records.push_back({kind, what, slot, now});
    last_record_stack_ = at_;
  }
  std::uint8_t number_of(std::size_t stack) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (order_[i] == stack) return static_cast<std::uint8_t>(i);
    }
    order_.push_back(stack);
    return static_cast<std::uint8_t>(order_.size() - 1);
  }

  void close(Stack& stack, FrameEnd how) {
    const Frame frame = stack.frames.back();
    stack.frames.pop_back();
    RunEvent event{};
    event.when_ns = now;
    event.since_ns = frame.since;
    event.amount = std::min(frame.inside, now - frame.since);
    event.function = static_cast<FunctionNumber>(frame.function);
    event.depth = frame.depth & 0xFFFFFF;
    event.stack = number_of(static_cast<std::size_t>(&stack - stacks_.data()));
    event.kind = RunEventKind::kLeave;
    event.end = how;
    events.push_back(event);
    --open_;
    Stack* around = &stack;
    if (stack.frames.empty() && &stack == &stacks_[kSignals]) around = &stacks_[interrupted_];
    if (!around->frames.empty()) around->frames.back().inside += now - frame.since;
  }
  // What the next record of this stack tells.
  void learn_here() {
    if (at_ != kSignals && at_ == interrupted_) {
      while (!stacks_[kSignals].frames.empty()) close(stacks_[kSignals], FrameEnd::kUnwound);
    }
    while (!here().frames.empty() && here().frames.back().is_gone) close(here(), FrameEnd::kUnwound);
  }
  std::size_t alive() const {
    const auto& frames = stacks_[at_].frames;
    std::size_t count = frames.size();
    while (count != 0 && frames[count - 1].is_gone) --count;
    return count;
  }

  void enter(std::uint64_t slot, std::uint64_t key) {
    const std::uint64_t function = functions_++ % 50;
    RunEvent event{};
    event.when_ns = now;
    event.function = static_cast<FunctionNumber>(function);
    event.depth = open_ & 0xFFFFFF;
    event.stack = number_of(at_);
    event.kind = RunEventKind::kEnter;
    events.push_back(event);
    here().frames.push_back(
        {slot, now, 0, function, open_, key, key != 0 ? slot : callees_slot(slot), false});
    ++open_;
    record(key != 0 ? lanes::RecordKind::kEnterKey : lanes::RecordKind::kEnter, 1 + function,
           key != 0 ? key : slot);
  }
  // All direct callees of a frame have one slot, as calls from one frame mostly do.
  void call() {
    tick();
    const std::size_t count = alive();
    std::uint64_t slot = count == 0 ? here().top - 64 : here().frames[count - 1].callees_slot;
    learn_here();
    enter(slot, 0);
  }
  void call_by_key() {
    if (at_ != last_record_stack_ || alive() != here().frames.size() || here().frames.empty()) return call();
    tick();
    enter(here().frames.back().callees_slot, 1 + random_() % 3);
  }
  void back() {
    const std::size_t count = alive();
    if (count == 0) return call();
    const bool is_top = at_ == last_record_stack_ && count == here().frames.size();
    if (here().frames[count - 1].key != 0 && !is_top) return call();
    tick();
    learn_here();
    const Frame frame = here().frames.back();
    if (frame.key != 0) {
      record(lanes::RecordKind::kLeaveKey, 1 + frame.function, frame.key);
    } else {
      record(lanes::RecordKind::kLeave, 0, frame.slot);
    }
    close(here(), FrameEnd::kReturned);
  }
  void tail() {
    const std::size_t count = alive();
    if (count == 0 || here().frames[count - 1].key != 0) return call();
    tick();
    learn_here();
    const std::uint64_t slot = here().frames.back().slot;
    record(lanes::RecordKind::kTail, 0, slot);
    close(here(), FrameEnd::kTailCalled);
    tick();
    enter(slot, 0);
  }
  // An exception or a longjmp. It ends in a native frame, or in none of ours.
  void remove() {
    const auto& frames = here().frames;
    std::size_t count = alive();
    const std::size_t most = random_() % 6;
    for (std::size_t i = 0; count != 0 && (i < most || (count < frames.size() && frames[count].key != 0));
         ++i)
      here().frames[--count].is_gone = true;
  }
  void begin_handler() {
    const Stack& stack = here();
    if (stack.frames.empty() || !stacks_[kSignals].frames.empty() || at_ != last_record_stack_) return call();
    interrupted_ = at_;
    at_ = kSignals;
    in_handler_ = true;
    handlers.push_back({records.size(), 0});
    call();
  }
  void end_handler(bool jumps) {
    Stack& signals = stacks_[kSignals];
    while (!jumps && alive() != 0) back();
    for (Frame& frame : signals.frames) frame.is_gone = true;
    handlers.back().second = records.size();
    ++now;  // the hook that was interrupted stamps its record now
    at_ = interrupted_;
    in_handler_ = false;
    if (jumps) remove();
    call();  // what was interrupted goes on
  }

  std::mt19937_64 random_;
  std::vector<Stack> stacks_;
  std::vector<std::size_t> order_;  // as they were first seen
  std::size_t at_ = 0;
  std::size_t interrupted_ = 0;
  std::size_t last_record_stack_ = ~std::size_t{0};
  bool in_handler_ = false;
  std::uint32_t open_ = 0;
  std::uint64_t functions_ = 0;
};

}  // namespace jitquill::tests
