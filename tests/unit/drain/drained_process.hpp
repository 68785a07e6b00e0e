// A process's lanes, code lane and folders, made by hand, and what drains them.
//
// Context   tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "agent/drain/drain.hpp"
#include "tests/support/lane_pool.hpp"
#include "tests/unit/drain/pool_memory.hpp"
#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::tests {

inline std::uint32_t format_bit(std::string_view name) {
  const auto rows = sink_rows();
  const auto row = std::ranges::find(rows, name, &SinkRow::name);
  return 1u << (row - rows.begin());
}

// Notes what is given back, and clears it as a pool does.
class HandSource final : public drain::LaneSource {
 public:
  explicit HandSource(test_support::LanePool& pool) : pool_(pool) {}
  std::span<std::uint8_t> memory() noexcept override { return pool_.memory(); }
  void give_back(std::uint64_t offset) noexcept override {
    given_back.push_back(offset);
    const std::uint32_t size = pool_.chunk(offset).size;
    pool_.chunk(offset).state = lanes::ChunkState::kFree;
    std::memset(pool_.memory().data() + offset + lanes::kBlockHeaderSize, 0, size - lanes::kBlockHeaderSize);
  }
  void quarantine(std::uint64_t offset) noexcept override {
    quarantined.push_back(offset);
    pool_.chunk(offset).state = lanes::ChunkState::kQuarantined;
  }
  bool is_thread_gone(std::uint32_t row) noexcept override {
    return pool_.lane(row).state == lanes::LaneState::kDead;
  }
  void free_row(std::uint32_t row) noexcept override {
    pool_.lane(row).state = lanes::LaneState::kFree;
    freed_rows.push_back(row);
  }

  std::vector<std::uint64_t> given_back, quarantined;
  std::vector<std::uint32_t> freed_rows;

 private:
  test_support::LanePool& pool_;
};

class DrainedProcess {
 public:
  static constexpr std::uint64_t kTop = 0x7ffd'0000'0000;

  explicit DrainedProcess(std::span<std::uint8_t> memory) : pool(memory) {
    EXPECT_EQ(code.begin({}, lane_folder), Status::kOk);
    folder = ::open(lane_folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~DrainedProcess() { ::close(folder); }
  DrainedProcess(const DrainedProcess&) = delete;
  DrainedProcess& operator=(const DrainedProcess&) = delete;

  drain::DrainSettings settings(std::uint32_t formats) {
    drain::DrainSettings all;
    all.lanes = &source;
    all.output = &output;
    all.lane_folder = folder;
    all.code_lane = ::open((lane_folder.path / "code").c_str(), O_RDONLY | O_CLOEXEC);
    all.outputs.formats = formats;
    all.outputs.origin.pid = 4711;
    return all;
  }
  // Ticks are ns.
  Status open(std::uint32_t formats) {
    drain = std::make_unique<drain::Drain>();
    return drain->open(settings(formats), {1, 1});
  }
  void function(std::uint64_t id, std::string_view name) {
    EXPECT_EQ(code.function(id, name, "f.nib", 1), Status::kOk);
  }
  void enter(std::uint32_t row, std::uint64_t ticks, std::uint64_t slot, std::uint64_t id) {
    pool.put(row, lanes::RecordKind::kEnter, id, slot, ticks);
  }
  void leave(std::uint32_t row, std::uint64_t ticks, std::uint64_t slot) {
    pool.put(row, lanes::RecordKind::kLeave, 0, slot, ticks);
  }
  void drain_all(std::uint64_t now) {
    while (drain->pass({now, now}).has_more) {
    }
  }

  TemporaryFolder output, lane_folder;
  int folder;
  lanes::CodeLane code;
  test_support::LanePool pool;
  HandSource source{pool};
  std::unique_ptr<drain::Drain> drain;
};

}  // namespace jitquill::tests
