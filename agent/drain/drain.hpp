// From lanes to files: the one that empties all lanes of a process, pairs, and lets every sink encode; and
// commits, so that a kill at any moment loses and repeats nothing.
//
//   a commit  (1) records of one lane are taken, paired, encoded
//             (2) each sink's bytes are appended to its file
//             (3) one record is appended to the journal: how far the lane is drained, the files' lengths,
//                 what changed in what is remembered
//             (4) the lane's chunks are given back
//
// Killed before (3) is whole, the files are cut to what the journal says and the lane is drained again from
// there; behind it, nothing of the lane is needed any more.
//
// Context   [drain]: one thread at a time, which its caller sees to (a loop, or the thread that ends the
//           process). `jitquill recover`, whose process is gone.
//           In a host its caller holds the drain's lock (base/drain_lock.hpp) around every call, and around
//           making and destroying it: the agent's other arena is the leaf lock's.
// Promises  never waits. Memory by operator new only, which is the agent's own in a host. Every loss is
//           counted, and placed where a sink can say it.
// Does not  read the counter or the clock: its caller does, at one time, for each call.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/drain/call_stacks.hpp"
#include "agent/drain/journal.hpp"
#include "agent/drain/lane_drain.hpp"
#include "agent/drain/run_outputs.hpp"
#include "agent/drain/samples.hpp"
#include "agent/lanes/calibration.hpp"
#include "agent/lanes/code_lane.hpp"
#include "agent/lanes/pool_view.hpp"

namespace jitquill::drain {

using Now = lanes::ClockPair;

struct DrainSettings {
  LaneSource* lanes = nullptr;             // outlives the drain, as all of these
  Folder* output = nullptr;                // where the sinks' files are
  const char* lane_folder_path = nullptr;  // where `lane_folder` can be opened again; null = nowhere
  int lane_folder = -1;                    // a directory's descriptor: the journal's
  int code_lane = -1;                      // the file `code`, to read; taken over. -1 = nothing is named
  RunOutputs::Settings outputs{};
  bool is_this_process = false;       // so its mappings say what native functions are called
  bool has_native_functions = false;  // so they are looked at now: it may be killed before one is asked for
  std::string_view patterns = "*";    // of native functions: hooks=
  std::string_view stacks = {};       // stack=, of those
  Unwanted unwanted{};
  bool demangles = false;
  sampler::Wish sampling{};
  Samples::ReturnAddress return_address = nullptr;  // where hooks take some
  Say say = nullptr;
  Now later{};  // for resume(): read after the process, by the same counter; 0 = it runs no more
};

struct Pass {
  std::uint64_t records = 0;
  std::uint64_t samples = 0;
  bool has_more = false;  // a lane had more than is taken at once: call again
};

inline constexpr std::string_view kNobodyShowsSamples =
    "sample=: none of the formats shows samples, so none are taken: formats=samples does";

class Drain final : private BatchTaker, private SampleTaker, private Defined {
 public:
  Drain() noexcept = default;
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  // Makes files and journal; before the first thread may write a record. kOff: no format wants run news.
  Status open(const DrainSettings& settings, const Now& now) noexcept;
  // Goes on where the process before stopped: by the journal that is there. kNotFound: there is none.
  Status resume(const DrainSettings& settings) noexcept;
  // In a child, whose parent may have been in the middle of any call: nothing else of it may be used then.
  void close_files() noexcept;
  void let_go_of_streams() noexcept { outputs_.let_go_of_streams(); }
  bool is_finished() const noexcept { return is_finished_; }

  // Begins to sample, if that was asked for.
  void start_sampling() noexcept;
  // Called by the thread that is not to be sampled.
  void set_own_thread() noexcept { samples_.set_own_thread(); }
  // That samples may wait to be read.
  std::uint64_t longest_pause_ns() const noexcept { return samples_.longest_pause_ns(); }

  // Of native functions, from now on.
  void set_patterns(std::string_view list) noexcept { functions_.set_patterns(list); }
  // Objects of this process are about to go; they are gone.
  void look_at_modules() noexcept { functions_.look_at_modules(); }
  void end_gone_modules(std::uint64_t now_ns) noexcept { functions_.end_gone_modules(now_ns); }
  // Looks at every lane once.
  Pass pass(const Now& now) noexcept;
  // So much was taken for so many records.
  void tell_cost(std::uint64_t cpu_ns, std::uint64_t records) noexcept {
    outputs_.cost({latest_ns_, cpu_ns, records});
  }
  // All that is there, holes included; then every open frame ends (`how`: kOpen, kProcessEnd), and the sinks.
  // Of `kProcessEnd` the time is the last record's.
  Status finish(FrameEnd how, const Now& now) noexcept;

 private:
  // Of a thread's pairing, so far.
  struct Told {
    explicit Told(const Pairing& pairing) noexcept
        : calls(pairing.calls()), unpaired(pairing.unpaired()), unrecorded(pairing.unrecorded()) {}
    std::uint64_t calls;
    std::uint64_t unpaired;
    std::uint64_t unrecorded;
  };

  void take_batch(std::span<const RunEvent> events, std::span<const Post> posts,
                  std::span<const CallStack> stacks) noexcept override;
  void take_samples(const SampleBatch& batch) noexcept override;

  Mark so_far() const noexcept override { return {functions_.defined(), told_code_at_}; }
  void define_again(const Mark& since, RunSink& sink, Bytes& out) noexcept override;

  bool set_up(const DrainSettings& settings) noexcept;
  lanes::Lane& row(std::uint32_t index) noexcept { return pool_->lane(index); }
  void calibrate(const Now& now) noexcept;
  void load_calibrations() noexcept;
  LaneDrain* lane_of(std::uint32_t index) noexcept;
  LaneDrain* find_or_make(std::uint32_t index, std::uint32_t thread) noexcept;
  void look_for_chunks() noexcept;
  void pass_over(const Now& now) noexcept;
  Pass look_at_all(const Look& look) noexcept;
  bool drain_lane(LaneDrain& lane, const Look& look, Pass& pass) noexcept;
  void define_new() noexcept;
  void tell_code() noexcept;
  void commit_code() noexcept;
  void commit_all() noexcept;
  bool take_once(LaneDrain& lane, const Look& look, std::uint64_t& records) noexcept;
  void count_news(std::uint64_t records, const Told& before, const Pairing& pairing) noexcept;
  bool commit(LaneDrain& lane) noexcept;
  void free(LaneDrain& lane) noexcept;
  bool write_journal(LaneDrain* changed) noexcept;
  void put_state(bool whole, LaneDrain* changed, Bytes& state) noexcept;
  bool apply_state(std::span<const std::uint8_t> state) noexcept;

  DrainSettings settings_;
  std::optional<lanes::PoolView> pool_;  // there is one behind set_up()
  lanes::CodeLaneReader code_lane_;
  Clock clock_;
  Functions functions_;
  RunOutputs outputs_;
  Journal journal_;
  LaneReader reader_;
  EventBuffer events_{*this};
  CallStacks call_stacks_{functions_};
  Samples samples_{functions_, *this};
  Surroundings around_{clock_, functions_, events_, &call_stacks_};
  GrowingArray<LaneDrain*> lanes_;  // by row; null = free
  RunThread thread_{};              // whose batches are taken
  Bytes state_;
  std::uint64_t counted_[3] = {};  // lost, broken, nameless
  std::uint64_t latest_ns_ = 0;
  std::uint64_t told_code_at_ = lanes::CodeLaneReader::kFirstAt;  // of the code lane, to sinks that want it
  std::uint32_t journal_failures_ = 0;
  bool needs_whole_ = true;
  bool is_finished_ = false;
};

}  // namespace jitquill::drain
