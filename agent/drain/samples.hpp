// From what the sampler saw (agent/sampler/) to what sinks are told: which functions a thread was in.
//
// Context   start(): [life], as sampler::Sampler::open(). The rest: [drain]; any one thread.
// Promises  each sample that the sampler hands on reaches the sinks, each loss before the first sample behind
//           it or at the end. A stack that could not be walked to its end is marked as partial.
#pragma once

#include <cstdint>

#include "agent/drain/functions.hpp"
#include "agent/sampler/sampler.hpp"
#include "agent/stacks/walker.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/model/sample.hpp"

namespace jitquill::drain {

// What is given the batches: valid while it is called.
class SampleTaker {
 public:
  virtual void take_samples(const SampleBatch& batch) noexcept = 0;

 protected:
  ~SampleTaker() = default;
};

class Samples final : private stacks::CodeSource {
 public:
  static constexpr std::size_t kMostFrames = 512;
  // What a stack walker that found `found` in `slot` has to go on with; 0: it is not known.
  using ReturnAddress = std::uint64_t (*)(std::uint64_t found, std::uint64_t slot);

  Samples(Functions& functions, SampleTaker& taker) noexcept : functions_(functions), taker_(taker) {}

  // `taken`: what tells of those that hooks took; null = nobody does.
  bool start(const sampler::Wish& wish, sampler::Say say, ReturnAddress taken) noexcept;
  void set_own_thread() noexcept { sampler_.set_own_thread(); }
  // All that there is. Their number.
  std::uint64_t look() noexcept;
  // No sample comes behind it. Losses that no sample followed are told.
  void finish() noexcept;
  void close_files() noexcept { sampler_.close_files(); }
  std::uint64_t longest_pause_ns() const noexcept { return sampler_.longest_pause_ns(); }

 private:
  struct Cpu {
    std::uint32_t number;
    std::uint64_t lost;  // not told yet
  };
  static constexpr std::size_t kMostAtOnce = 256;

  bool find_tables(std::uint64_t address, stacks::CodeTables& tables) noexcept override;
  std::uint64_t return_address(std::uint64_t found, std::uint64_t slot) noexcept override;
  void begin_look() noexcept;
  void see(const sampler::Record& record) noexcept;
  Cpu* cpu(std::uint32_t number) noexcept;
  void take(const sampler::Record& record) noexcept;
  void lose(const sampler::Record& record) noexcept;
  bool add(const sampler::Record& record) noexcept;
  stacks::Walked walk(const sampler::Record& record) noexcept;
  void put_frame(std::uint64_t address) noexcept;
  void forget_if_code_changed() noexcept;
  Functions::Place place_of(std::uint64_t address) noexcept;
  void flush() noexcept;

  Functions& functions_;
  SampleTaker& taker_;
  sampler::Sampler sampler_;
  stacks::StackWalker walker_;
  ReturnAddress return_address_ = nullptr;
  GrowingArray<Cpu> cpus_;  // those that had samples or losses
  // Of one CPU, not told yet.
  std::uint32_t cpu_ = 0;
  GrowingArray<SampleView> views_;
  GrowingArray<SampleFrame> frames_;  // of all of them
  GrowingArray<std::size_t> firsts_;  // where each one's begin
  std::uint64_t when_ns_ = 0;         // of the sample at hand
  // What holds until code changes: in a look behind a change samples are from before it, and from behind it.
  std::uint64_t changes_ = 0;
  bool has_changed_ = false;  // since the last look
  struct ThreadMemo {
    std::uint32_t tid = 0;
    stacks::WalkMemo walk;
  };
  static constexpr std::size_t kMemos = 64;
  ThreadMemo memos_[kMemos];  // by tid
  struct KnownPlace {
    std::uint64_t address = 0;
    Functions::Place place{};
  };
  static constexpr std::size_t kPlaces = 1024;
  KnownPlace places_[kPlaces];  // by address
  std::uint64_t addresses_[kMostFrames];
};

}  // namespace jitquill::drain
