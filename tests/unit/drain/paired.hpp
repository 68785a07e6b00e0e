// One thread's records, and the events that pairing makes of them.
//
// Context   tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/drain/pairing.hpp"
#include "agent/lanes/code_lane.hpp"
#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::tests {

// A code lane with functions of the ids from 1 on.
class CodeOfFunctions {
 public:
  static constexpr std::uint64_t kCount = 64;

  CodeOfFunctions() {
    EXPECT_EQ(lane_.begin({}, folder_), Status::kOk);
    for (std::uint64_t id = 1; id <= kCount; ++id)
      EXPECT_EQ(lane_.function(id, "f" + std::to_string(id), "/f.nib", 1), Status::kOk);
  }
  int open() const { return ::open((folder_.path / "code").c_str(), O_RDONLY | O_CLOEXEC); }

 private:
  TemporaryFolder folder_;
  lanes::CodeLane lane_;
};

class Paired : public drain::BatchTaker {
 public:
  using Kind = lanes::RecordKind;

  // Ticks are ns, and ids are numbers of functions if they are asked for in their order.
  Paired() { (void)reader.begin(1); }
  virtual ~Paired() = default;
  // Ids up to CodeOfFunctions::kCount are announced, as nearly all are.
  void know_functions() {
    static const CodeOfFunctions code;
    EXPECT_TRUE(code_lane.open(code.open()));
    functions.open(&code_lane);
    functions.read_news();
  }
  void take(const std::vector<drain::Taken>& records) { pairing.take(records, reader, around); }
  void put(Kind kind, std::uint64_t ticks, std::uint64_t slot_address, std::uint64_t id = 0) {
    take({{ticks, id, lanes::slot_of(slot_address), 0, kind}});
  }
  void enter(std::uint64_t ticks, std::uint64_t slot, std::uint64_t id) {
    put(Kind::kEnter, ticks, slot, id);
  }
  void leave(std::uint64_t ticks, std::uint64_t slot) { put(Kind::kLeave, ticks, slot); }
  // A function at `address`, whose compiler calls us from `place` in its frame.
  void within(Kind kind, std::uint64_t ticks, std::uint64_t place, std::uint64_t address) {
    put(kind, ticks, place, address);
  }
  void key(Kind kind, std::uint64_t ticks, std::uint32_t key, std::uint64_t id = 0) {
    take({{ticks, id, key, 0, kind}});
  }
  void learn(std::uint64_t low, std::uint64_t high, drain::StackKind kind = drain::StackKind::kFiber) {
    pairing.learn_stack(low, high, kind, around);
  }
  const std::vector<RunEvent>& events() {
    buffer.flush();
    return taken;
  }
  void take_batch(std::span<const RunEvent> batch, std::span<const Post>,
                  std::span<const CallStack>) noexcept override {
    taken.insert(taken.end(), batch.begin(), batch.end());
  }

  lanes::CodeLaneReader code_lane;
  drain::Clock clock;
  drain::Functions functions;
  drain::EventBuffer buffer{*this};
  drain::Surroundings around{clock, functions, buffer};
  drain::LaneReader reader;
  drain::Pairing pairing;
  std::vector<RunEvent> taken;
};

}  // namespace jitquill::tests
