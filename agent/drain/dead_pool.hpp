// The file `lanes` that a process left, as the drain wants it.
//
// Context   `jitquill recover`.
// Promises  nothing of it is changed but that it is ended.
#pragma once

#include "agent/drain/lane_source.hpp"
#include "agent/lanes/layout.hpp"

namespace jitquill::drain {

class DeadPool final : public LaneSource {
 public:
  DeadPool() noexcept = default;
  ~DeadPool();
  DeadPool(const DeadPool&) = delete;
  DeadPool& operator=(const DeadPool&) = delete;

  // `folder`: a directory's descriptor. False: there is no such file, or it is none of ours.
  bool open(int folder) noexcept;
  lanes::PoolHeader& header() noexcept { return *reinterpret_cast<lanes::PoolHeader*>(bytes_.data()); }

  // Of the drain's last look, or of the last chunk that a thread got.
  std::uint64_t latest_ticks() noexcept;

  std::span<std::uint8_t> memory() noexcept override { return bytes_; }
  void give_back(std::uint64_t) noexcept override {}
  void quarantine(std::uint64_t) noexcept override {}
  // All are. But those that lived until the kill ended with their process.
  bool is_thread_gone(std::uint32_t) noexcept override { return false; }
  void free_row(std::uint32_t) noexcept override {}

 private:
  std::span<std::uint8_t> bytes_;
};

}  // namespace jitquill::drain
