// All orders in which a thread, its handlers, the drain and a kill can meet in a lane, in the small: two
// chunks of two records, six records of the thread and three of handlers, which nest.
//
// Each step of the model is one store or one read-modify-write of lane.cpp, lane_chunk.cpp, pool_drain.cpp;
// the words are those of record.hpp. Deliberately broken orders must be caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_set>

#include "agent/lanes/layout.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

constexpr int kChunks = 2, kRecords = 2;  // records a chunk
constexpr int kOwn = 6, kHandlers = 3;    // events of the thread, and of its handlers
constexpr int kEvents = kOwn + kHandlers;
constexpr int kFrames = 1 + kHandlers;  // at a time

enum class Order {
  kRight,
  kWhenFirst,        // `when` before `what`
  kFillThenAdvance,  // stores before the cursor says that the place is taken
  kLinkThenClear,    // a chunk is handed out while its old records are in it
  kRecycleHoles,     // a chunk with a hole is used again while its thread lives
};

enum class At : std::uint8_t { kReserve, kFirstStore, kSecondStore, kAdvance, kTake, kHeader, kPublish };

struct Frame {
  At at;
  std::int8_t event;
  std::int8_t position;  // in all of the memory
};

enum class DrainAt : std::uint8_t { kLook, kWhat, kFree, kClear, kLink };

// All that there is at one moment. Plain bytes, all of them set: states are compared by them.
struct State {
  std::uint64_t when[kChunks * kRecords];
  std::uint64_t what[kChunks * kRecords];
  std::int8_t chunk_state[kChunks];  // ChunkState
  std::int8_t number[kChunks];
  std::int8_t is_free[kChunks];  // linked
  std::int8_t cursor;            // position; kChunks * kRecords = none
  std::int8_t end;
  std::int8_t lane_number;
  std::int8_t lost;
  std::int8_t own_left, handlers_left;
  std::int8_t frame_count;
  Frame frames[kFrames];
  DrainAt drain_at;
  std::int8_t drain_number, drain_index, drain_cleared, has_hole, passed;
  std::int8_t emitted[kEvents];
  std::int8_t wrong;
  std::int8_t next_number;
};

constexpr std::int8_t kNowhere = kChunks * kRecords;

std::uint64_t when_of(int event) {
  return when_word(static_cast<std::uint64_t>(event) + 1, 100U + static_cast<std::uint32_t>(event));
}
std::uint64_t what_of(int event) {
  return what_word(RecordKind::kEnter, static_cast<std::uint64_t>(event),
                   100U + static_cast<std::uint32_t>(event));
}

class Model {
 public:
  explicit Model(Order order) : order_(order) {}

  // What goes wrong in some order; empty: nothing in any.
  std::string explore() {
    State start;
    std::memset(&start, 0, sizeof start);
    for (std::int8_t& is_free : start.is_free) is_free = 1;
    start.cursor = start.end = kNowhere;
    start.own_left = kOwn;
    start.handlers_left = kHandlers;
    start.drain_number = 1;
    visit(start);
    return found_;
  }
  std::size_t states() const { return seen_.size(); }

 private:
  void visit(const State& state) {
    if (!found_.empty()) return;
    if (!seen_.insert(std::string(reinterpret_cast<const char*>(&state), sizeof state)).second) return;
    check_killed(state);
    State next = state;
    if (step_thread(next)) visit(next);
    next = state;
    if (interrupt(next)) visit(next);
    next = state;
    if (step_drain(next, false)) visit(next);
    next = state;
    if (step_drain(next, true)) visit(next);
  }

  static bool holds_signals(const Frame& frame) {
    return frame.at == At::kTake || frame.at == At::kHeader || frame.at == At::kPublish;
  }

  static void push(State& s, int event) {
    s.frames[s.frame_count++] = {At::kReserve, static_cast<std::int8_t>(event), 0};
  }

  // A handler begins, with one record of its own.
  static bool interrupt(State& s) {
    if (s.frame_count == 0 || s.handlers_left == 0 || holds_signals(s.frames[s.frame_count - 1]))
      return false;
    push(s, kOwn + --s.handlers_left);
    return true;
  }

  bool step_thread(State& s) const {
    if (s.frame_count == 0) {
      if (s.own_left == 0) return false;
      push(s, --s.own_left);
      return true;
    }
    step_frame(s, s.frames[s.frame_count - 1]);
    return true;
  }

  void step_frame(State& s, Frame& frame) const {
    switch (frame.at) {
      case At::kReserve:
        if (s.cursor == s.end) {
          frame.at = At::kTake;
          break;
        }
        frame.position = s.cursor;
        if (order_ != Order::kFillThenAdvance) ++s.cursor;
        frame.at = At::kFirstStore;
        break;
      case At::kFirstStore:
        store(s, frame, order_ == Order::kWhenFirst);
        frame.at = At::kSecondStore;
        break;
      case At::kSecondStore:
        store(s, frame, order_ != Order::kWhenFirst);
        frame.at = At::kAdvance;
        if (order_ != Order::kFillThenAdvance) pop(s, frame);
        break;
      case At::kAdvance:
        s.cursor = static_cast<std::int8_t>(frame.position + 1);
        pop(s, frame);
        break;
      case At::kTake:
        take(s, frame);
        break;
      case At::kHeader:
        s.number[frame.position] = static_cast<std::int8_t>(s.next_number + 1);
        s.chunk_state[frame.position] = static_cast<std::int8_t>(ChunkState::kUsed);
        frame.at = At::kPublish;
        break;
      case At::kPublish:
        s.lane_number = ++s.next_number;
        s.cursor = static_cast<std::int8_t>(frame.position * kRecords);
        s.end = static_cast<std::int8_t>(s.cursor + kRecords);
        frame = {At::kReserve, frame.event, 0};
        break;
    }
  }

  static void pop(State& s, Frame& frame) {
    frame = {};
    --s.frame_count;
  }

  static void store(State& s, const Frame& frame, bool is_when) {
    if (is_when)
      s.when[frame.position] = when_of(frame.event);
    else
      s.what[frame.position] = what_of(frame.event);
  }

  // Without a free one the thread leaves its chunk and loses the record (policy drop).
  static void take(State& s, Frame& frame) {
    for (std::int8_t chunk = 0; chunk < kChunks; ++chunk) {
      if (s.is_free[chunk] == 0) continue;
      s.is_free[chunk] = 0;
      frame.position = chunk;
      frame.at = At::kHeader;
      return;
    }
    s.cursor = s.end = kNowhere;
    s.lane_number = static_cast<std::int8_t>(s.next_number + 1);
    ++s.lost;
    pop(s, frame);
  }

  static int chunk_of(const State& s, int number) {
    for (int chunk = 0; chunk < kChunks; ++chunk)
      if (s.number[chunk] == number && s.chunk_state[chunk] == static_cast<std::int8_t>(ChunkState::kUsed))
        return chunk;
    return -1;
  }

  static void emit(State& s, std::uint64_t when, std::uint64_t what) {
    const auto event = static_cast<int>(what & kLow48);
    const bool is_right = event < kEvents && when == when_of(event) && what == what_of(event);
    if (!is_right || ++s.emitted[event] > 1) s.wrong = 1;
  }

  // Something is behind the hole: it will be filled late, or never.
  static bool is_hole(const State& s, int chunk) {
    for (int i = s.drain_index + 1; i < kRecords; ++i)
      if (s.when[chunk * kRecords + i] != 0) return true;
    return s.lane_number > s.drain_number;
  }

  // `passes`: at a hole, the drain has waited long enough.
  bool step_drain(State& s, bool passes) const {
    const int chunk =
        s.drain_at == DrainAt::kLook || s.drain_at == DrainAt::kWhat ? chunk_of(s, s.drain_number) : s.passed;
    if (chunk < 0) return false;
    switch (s.drain_at) {
      case DrainAt::kLook:
        return look(s, chunk, passes);
      case DrainAt::kWhat: {
        const int at = chunk * kRecords + s.drain_index;
        emit(s, s.when[at], s.what[at]);
        ++s.drain_index;
        s.drain_at = DrainAt::kLook;
        return !passes;
      }
      case DrainAt::kFree:
        s.chunk_state[chunk] = static_cast<std::int8_t>(ChunkState::kFree);
        s.number[chunk] = 0;
        s.drain_cleared = 0;
        s.drain_at = order_ == Order::kLinkThenClear ? DrainAt::kLink : DrainAt::kClear;
        return !passes;
      case DrainAt::kClear:
        s.when[chunk * kRecords + s.drain_cleared++] = 0;
        if (s.drain_cleared == kRecords)
          s.drain_at = order_ == Order::kLinkThenClear ? DrainAt::kLook : DrainAt::kLink;
        return !passes;
      case DrainAt::kLink:
        s.is_free[chunk] = 1;
        s.drain_at = order_ == Order::kLinkThenClear ? DrainAt::kClear : DrainAt::kLook;
        return !passes;
    }
    return false;
  }

  bool look(State& s, int chunk, bool passes) const {
    if (s.drain_index == kRecords) {
      if (passes || s.lane_number <= s.drain_number) return false;
      s.passed = static_cast<std::int8_t>(chunk);
      ++s.drain_number;
      s.drain_index = 0;
      const bool is_kept = s.has_hole != 0 && order_ != Order::kRecycleHoles;
      if (is_kept) s.chunk_state[chunk] = static_cast<std::int8_t>(ChunkState::kQuarantined);
      s.drain_at = is_kept ? DrainAt::kLook : DrainAt::kFree;
      s.has_hole = 0;
      return true;
    }
    if (s.when[chunk * kRecords + s.drain_index] != 0) {
      s.drain_at = DrainAt::kWhat;
      return !passes;
    }
    if (!passes || !is_hole(s, chunk)) return false;
    ++s.drain_index;
    ++s.lost;
    s.has_hole = 1;
    return true;
  }

  // The process ends here: whoever recovers goes on where the drain stood. Each event is there once, or
  // counted, or was in the middle of being put.
  void check_killed(State s) {
    for (int chunk; (chunk = chunk_of(s, s.drain_number)) >= 0; ++s.drain_number, s.drain_index = 0)
      for (int i = s.drain_index; i < kRecords; ++i)
        if (const int at = chunk * kRecords + i; s.when[at] != 0) emit(s, s.when[at], s.what[at]);
    int there = 0;
    for (const std::int8_t count : s.emitted) there += count;
    const int begun = kEvents - s.own_left - s.handlers_left;
    if (s.wrong != 0) found_ = "a record is wrong, or there twice";
    if (there + s.lost + s.frame_count < begun) found_ = "a record is missing";
  }

  const Order order_;
  std::unordered_set<std::string> seen_;
  std::string found_;
};

TEST(Interleavings, LeaveEachRecordThereOnceOrCounted) {
  Model model(Order::kRight);
  EXPECT_EQ(model.explore(), "");
  EXPECT_GT(model.states(), 10'000u);
}

TEST(Interleavings, OfBrokenOrdersAreCaught) {
  for (const Order order :
       {Order::kWhenFirst, Order::kFillThenAdvance, Order::kLinkThenClear, Order::kRecycleHoles})
    EXPECT_NE(Model(order).explore(), "") << static_cast<int>(order);
}

}  // namespace
}  // namespace lanes_test
