// Profiles of calls as GHC's tools know them, made of entries and exits: how often each function was entered
// (ticky counters), and what was open at an interval (cost centres).
//
// Samples of cost centres are a sampler's where one runs. Where none does they are taken by the time of
// events: at each tick between two events of a thread what was open there. Those say what a thread was in,
// whether it ran or waited.
//
// Context   as the sink that uses it.
// Promises  a function is defined before it is counted or sampled. A sample has the inner 255 frames, and a
//           time without events has at most kMostTicks samples. Counters survive the process; which frames
//           were open does not: after a recovery those that began before are not in samples.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/growing_array.hpp"
#include "writer/eventlog/log_putter.hpp"
#include "writer/eventlog/state_rows.hpp"
#include "writer/model/run.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::eventlog {

class CallProfile {
 public:
  static constexpr std::uint64_t kMostTicks = 1'000;
  // Numbers of cost centres: a runtime's allocation sites have the lower ones.
  static constexpr std::uint32_t kFirstCentre = 1u << 30;

  CallProfile() noexcept = default;
  ~CallProfile();
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

  void set(const RunSettings& settings) noexcept;
  bool is_wanted() const noexcept { return ticky_ || samples_; }
  void begin(LogPutter& log) noexcept;
  void define(const FunctionInfo& function, Level level, LogPutter& log) noexcept;
  // Calls of a thread that was `worker`th to come; times of the log are theirs less `base_ns`.
  void take(std::uint32_t worker, std::uint16_t capability, std::span<const RunEvent> calls,
            std::uint64_t base_ns, LogPutter& log) noexcept;
  // What a sampler saw.
  void take(const SampleView& sample, std::uint16_t capability, std::uint64_t when_ns,
            LogPutter& log) noexcept;
  void end_worker(std::uint32_t worker) noexcept;
  void end(std::uint64_t when_ns, LogPutter& log) noexcept { put_counters(when_ns, log); }

  // | ticky u8 | samples u8 | sampler's Hz | sampled | interval | next | counters |
  void put_changes(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  struct Counter {
    std::uint64_t entries = 0;  // since the last sample
    template <class Each>
    void each(Each each) const noexcept {
      each(entries);
    }
    template <class Each>
    void each(Each each) noexcept {
      each(entries);
    }
  };
  struct Open {
    GrowingArray<FunctionNumber> functions;  // the outermost first
    std::uint64_t next_ns = 0;               // the next tick
  };

  Open* open(std::uint32_t worker) noexcept;
  void count(std::span<const RunEvent> calls) noexcept;
  void sample(Open& open, std::uint16_t capability, std::span<const RunEvent> calls, std::uint64_t base_ns,
              LogPutter& log) noexcept;
  void put_ticks(Open& open, std::uint16_t capability, std::uint64_t until_ns, LogPutter& log) noexcept;
  void put_counters(std::uint64_t when_ns, LogPutter& log) noexcept;
  void put_head(Bytes& state) const noexcept;

  bool ticky_ = false;
  bool samples_ = false;
  std::uint32_t sampler_hz_ = 0;  // 0 = none runs: ticks are put
  std::uint64_t sampled_ = 0;     // samples of it
  std::uint64_t interval_ns_ = 0;
  std::uint64_t next_counters_ns_ = 0;
  StateRows<Counter> counters_;          // by function
  GrowingArray<std::uint32_t> counted_;  // functions with entries since the last sample
  GrowingArray<Open*> workers_;          // null = nothing was open
};

}  // namespace jitquill::eventlog
