// A pool in a folder of a test's own, and all that lies in it.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/lanes/pool.hpp"
#include "agent/lanes/pool_view.hpp"

namespace lanes_test {

struct Found {
  jitquill::lanes::RecordKind kind;
  std::uint64_t what;
  std::uint32_t slot;
  std::uint64_t low_ticks;
  std::uint64_t raw_when;
  std::uint64_t raw_what;
};

// One lane as its records lie there, in the order of its chunks.
struct FoundLane {
  std::uint32_t thread = 0;
  std::uint32_t tid = 0;
  jitquill::lanes::LaneState state{};
  std::vector<Found> records;
  std::vector<jitquill::lanes::PoolView::Chunk> chunks;
  std::uint64_t holes = 0;  // places without a record before others
  std::uint64_t lost = 0;   // as chunks and the row say
};

std::vector<FoundLane> read_lanes(std::span<std::uint8_t> memory);

class LaneRun {
 public:
  explicit LaneRun(jitquill::lanes::Pool::Settings settings = {});
  ~LaneRun();  // the folder goes
  LaneRun(const LaneRun&) = delete;
  LaneRun& operator=(const LaneRun&) = delete;

  int started() const { return started_; }
  const std::string& folder() const { return folder_; }
  std::vector<FoundLane> lanes() const { return read_lanes(jitquill::lanes::Pool::memory()); }
  FoundLane only_lane() const;

 private:
  std::string folder_;
  int started_ = -1;
  int owner_ = 0;
};

}  // namespace lanes_test
