#include "tests/unit/lanes/lane_run.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace lanes_test {

using namespace jitquill::lanes;

namespace {

void read_chunk(const PoolView& view, const PoolView::Chunk& chunk, bool is_last, FoundLane& lane) {
  std::uint64_t empty = 0;
  for (std::size_t i = 0; i < chunk.records(); ++i) {
    const Record& record = view.record(chunk, i);
    const std::uint64_t when = record.when.load();
    const std::uint64_t what = record.what.load();
    if (when == 0) {
      ++empty;
      continue;
    }
    lane.holes += empty;
    empty = 0;
    const RecordKind kind = kind_of(what);
    if (kind == RecordKind::kPad) i += kRecordsPerBlock - 1 - i % kRecordsPerBlock;
    lane.records.push_back({kind, what & kLow48, slot_in(when, what), low_ticks(when), when, what});
  }
  if (!is_last) lane.holes += empty;
}

void read_lane(const PoolView& view, FoundLane& lane) {
  std::ranges::sort(lane.chunks, {}, [](const PoolView::Chunk& chunk) { return chunk.header->number; });
  for (const PoolView::Chunk& chunk : lane.chunks) {
    lane.lost += chunk.header->lost_before;
    read_chunk(view, chunk, chunk.offset == lane.chunks.back().offset, lane);
  }
}

}  // namespace

std::vector<FoundLane> read_lanes(std::span<std::uint8_t> memory) {
  const auto view = PoolView::over(memory);
  if (!view) return {};
  std::map<std::uint32_t, FoundLane> by_thread;
  for (std::uint32_t row = 0; row < view->lane_count(); ++row) {
    const Lane& lane = view->lane(row);
    FoundLane& found = by_thread[lane.number];
    found.thread = lane.number;
    found.tid = lane.tid;
    found.state = lane.state.load();
    found.lost += lane.lost.load();
  }
  view->for_each_chunk([&](const PoolView::Chunk& chunk) {
    if (chunk.header->state.load() == ChunkState::kUsed)
      by_thread[chunk.header->thread].chunks.push_back(chunk);
  });
  std::vector<FoundLane> lanes;
  for (auto& [thread, lane] : by_thread) {
    read_lane(*view, lane);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

// In memory that is made page by page, as where the agent puts it.
LaneRun::LaneRun(Pool::Settings settings) : owner_(getpid()) {
  char name[] = "/dev/shm/jitquill-test-XXXXXX";
  folder_ = mkdtemp(name) == nullptr ? "" : name;
  if (settings.folder == nullptr) settings.folder = folder_.c_str();
  if (settings.output_folder == nullptr) settings.output_folder = folder_.c_str();
  started_ = Pool::start(settings);
  if (started_ == 0) Pool::switch_on();
}

LaneRun::~LaneRun() {
  if (folder_.empty() || getpid() != owner_) return;
  (void)unlink((folder_ + "/" + Pool::kFileName).c_str());
  (void)rmdir(folder_.c_str());
}

FoundLane LaneRun::only_lane() const {
  std::vector<FoundLane> all = lanes();
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? FoundLane{} : all.front();
}

}  // namespace lanes_test
