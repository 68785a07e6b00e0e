// The sink of the format eventlog (docs/eventlog.md): which news becomes which records of which capability.
//
//   capability   of a thread of the system that runs traced code or tells of threads, collections or sparks;
//                or as its runtime says (capability_taken)
//   thread       as the runtime tells of them; where it never does, one for each thread of the system
//   task         a thread of the system that has a capability
//
// Context   as every sink of run news (writer/sink/run_sink.hpp).
// Promises  times of a thread's blocks ascend, but for those of what is moved by less than 1 ms in front of
//           what another thread told (threads.hpp): a block of its own. What cannot be (a thread stops that
//           does not run) is left out and counted: tools refuse a whole log for it, or end.
#pragma once

#include <cstdint>

#include "writer/eventlog/call_profile.hpp"
#include "writer/eventlog/capabilities.hpp"
#include "writer/eventlog/kept_records.hpp"
#include "writer/eventlog/log_putter.hpp"
#include "writer/eventlog/runtime_record.hpp"
#include "writer/eventlog/threads.hpp"
#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::eventlog {

// What is known of a thread of the system.
struct Worker {
  std::uint64_t last_ns = 0;  // of the log: nothing of it is put before
  std::uint32_t tid = 0;
  std::uint32_t running = 0;  // index of its thread + 1; 0 = none
  std::uint32_t system = 0;   // likewise, of the thread that stands for it
  std::uint16_t capability = kNoCapability;
  std::uint16_t task_capability = kNoCapability;  // as was told last; none: it is no task
  std::uint8_t is_automatic = 0;                  // its capability ends with it
  std::uint8_t is_collecting = 0;
  std::uint8_t is_refused = 0;  // no capability was left
  std::uint8_t has_lost = 0;    // perhaps which capability its runtime gave it

  template <class Each>
  void each(Each each) const noexcept {
    each(last_ns), each(tid), each(running), each(system), each(capability), each(task_capability);
    each(is_automatic), each(is_collecting), each(is_refused), each(has_lost);
  }
  template <class Each>
  void each(Each each) noexcept {
    each(last_ns), each(tid), each(running), each(system), each(capability), each(task_capability);
    each(is_automatic), each(is_collecting), each(is_refused), each(has_lost);
  }
};

inline Status done(const Bytes& out) noexcept {
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

inline constexpr std::uint64_t kStart = 0;  // key of what every log begins with; of others: going_on.cpp
inline constexpr std::uint16_t kYields = 3, kFinished = 5;  // of STOP_THREAD

class EventlogSink final : public RunSink {
 public:
  void set(const RunSettings& settings) noexcept override;
  bool wants_code() const noexcept override { return true; }
  bool wants_samples() const noexcept override { return true; }
  Status begin(const Origin& origin, Bytes& out) noexcept override;
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status code(const CodeNews& news, Bytes& out) noexcept override;
  Status batch(const Batch& batch, Bytes& out) noexcept override;
  Status samples(const SampleBatch& batch, Bytes& out) noexcept override;
  Status cost(const RunCost& cost, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  bool can_go_on() const noexcept override { return true; }
  Status settle(Bytes& out) noexcept override;
  Status leave_off(Bytes& out) noexcept override;
  Status begin_again(Bytes& out) noexcept override;
  Status leave_out(ReaderMark& mark, Bytes& out) noexcept override;
  Status take_in(const ReaderMark& mark, std::uint64_t lost, Bytes& out) noexcept override;
  RunLosses losses() const noexcept override { return losses_; }
  void put_changes(Bytes& state) noexcept override;
  void put_all(Bytes& state) noexcept override;
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  // A worker while its batch is put.
  struct Here {
    Worker& worker;
    std::uint32_t number;
    std::string_view name;
    LogPutter& log;
  };

  std::uint64_t log_time(std::uint64_t when_ns) const noexcept {
    return when_ns > base_ns_ ? when_ns - base_ns_ : 0;
  }
  // The time of an event of the worker, which what it tells next is not before.
  static std::uint64_t go_to(Worker& worker, std::uint64_t when_ns) noexcept {
    if (when_ns > worker.last_ns) worker.last_ns = when_ns;
    return worker.last_ns;
  }

  static constexpr std::uint32_t kSamplesCounter = 0;  // of PERF_NAME

  // calls.cpp
  void put_calls(const Here& here, std::span<const RunEvent> calls) noexcept;
  void put_messages(const Here& here, std::span<const RunEvent> calls) noexcept;
  void put_callers(const Here& here, const RunEvent& event, const Batch& batch) noexcept;
  std::uint16_t capability_of(std::uint32_t tid) const noexcept;
  void put_lost(const Here& here, const RunEvent& event) noexcept;

  // telling.cpp
  void put_post(const Here& here, const Post& post) noexcept;
  bool admit(const Here& here, const RuntimeEvent& event, RuntimePlace& place) noexcept;
  bool admit_thread(const Here& here, const RuntimeEvent& event, RuntimePlace& place) noexcept;
  bool may_be_first(const Worker& worker, const RuntimeEvent& event) const noexcept;
  bool admit_run(const Here& here, Threads::Index thread, RuntimePlace& place) noexcept;
  bool admit_stop(const Here& here, Threads::Index thread, RuntimePlace& place) noexcept;
  static bool admit_collection(Worker& worker, RuntimeEventKind kind) noexcept;
  void tell_capability(const Here& here, const RuntimeEvent& event, std::uint64_t when_ns) noexcept;
  void enable_capability(LogPutter& log, std::uint16_t number, bool is_enabled,
                         std::uint64_t when_ns) noexcept;
  void take_capability(const Here& here, std::uint16_t name, std::uint64_t when_ns) noexcept;
  void leave_capability(const Here& here) noexcept;

  // workers.cpp
  void serve(const Here& here) noexcept;
  void take_automatic(const Here& here) noexcept;
  void stand_for(const Here& here) noexcept;
  void finish_system(const Here& here) noexcept;
  void stop_all(const Here& here) noexcept;
  void end_worker(const Here& here, bool has_ended) noexcept;
  void put_task(const Here& here) noexcept;
  void put_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept;
  static void put_new_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept;
  void delete_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept;
  void put_missing_creations(LogPutter& log) noexcept;

  // going_on.cpp
  void keep(const RuntimeEvent& event, const RuntimePlace& place,
            std::span<const std::uint8_t> record) noexcept;
  void keep_label(std::uint32_t thread, std::uint64_t when_ns, std::string_view name) noexcept;
  void put_settled(LogPutter& log) noexcept;
  std::uint16_t present(std::uint16_t capability) const noexcept;
  std::uint64_t put_stops(LogPutter& log) const noexcept;
  void put_definitions(LogPutter& log) const noexcept;
  void put_capabilities(std::size_t first, std::size_t first_worker, LogPutter& log) const noexcept;
  void put_threads(std::size_t first, LogPutter& log) const noexcept;
  void put_running(LogPutter& log) const noexcept;

  void put_other(const Here& here, const RunEvent& event, const Batch& batch) noexcept;
  void put_head(Bytes& state) const noexcept;

  RunLosses losses_;
  std::uint64_t base_ns_ = 0;  // CLOCK_MONOTONIC at time 0
  std::uint8_t level_ = 0;
  bool own_ = true;
  bool messages_ = false;
  bool may_go_on_ = false;
  bool has_sampler_ = false;
  std::uint8_t bands_ = 0;  // of the heap profile that goes on, as its runtime says
  CallProfile profile_;
  FunctionTexts texts_;  // for messages
  Capabilities capabilities_;
  Threads threads_;
  StateRows<Worker> workers_;  // by RunThread::number
  KeptRecords kept_;           // if it may go on
};

}  // namespace jitquill::eventlog
