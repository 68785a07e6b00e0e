// The sink of the format openj9 (docs/openj9.md): which news becomes which trace points of which thread.
//
//   a thread of the system    its trace: functions (jqm), what it tells, losses, its begin and end (jq)
//   the exception buffer      code that came, moved and went, and dates: they are of no thread. Of rings also
//                             what must be there when they have gone round, behind whose it is
//
// Context   as every sink of run news (writer/sink/run_sink.hpp).
// Promises  a thread's entries ascend in time (a ring's exception buffer has them as they came), and none is
//           earlier than the trace. What does not fit into a record is cut from texts, and counted. Records
//           that did not get to the file are told as lost.
#pragma once

#include <array>
#include <cstdint>

#include "writer/model/trace_selection.hpp"
#include "writer/openj9/thread_trace.hpp"
#include "writer/openj9/trace_point.hpp"
#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::openj9 {

class Openj9Sink final : public RunSink {
 public:
  ~Openj9Sink() override;

  void set(const RunSettings& settings) noexcept override;
  bool wants_code() const noexcept override { return true; }
  const char* side_file() const noexcept override { return ".dat"; }
  void put_side_file(Bytes& out) const noexcept override;
  Status begin(const Origin& origin, Bytes& out) noexcept override;
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status code(const CodeNews& news, Bytes& out) noexcept override;
  Status batch(const Batch& batch, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  bool can_go_on() const noexcept override { return true; }
  std::size_t most_bytes(const Batch& batch) const noexcept override;
  Status leave_off(Bytes& out) noexcept override;
  Status begin_again(Bytes& out) noexcept override;
  RunLosses losses() const noexcept override { return losses_; }
  void put_changes(Bytes& state) noexcept override { put_state(false, state); }
  void put_all(Bytes& state) noexcept override { put_state(true, state); }
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  // A trace while news of it is put.
  struct Here {
    ThreadTrace& trace;
    Bytes& out;
  };

  bool wants(Point point) const noexcept { return wanted_[static_cast<std::size_t>(point)]; }
  void choose(const std::array<std::uint8_t, 2>& levels) noexcept;
  std::uint64_t ticks_of(std::uint64_t when_ns) const noexcept {
    return when_ns > clock_.start_ticks ? when_ns : clock_.start_ticks;
  }
  template <Point kPoint, class... Values>
  void put(const Here& here, std::uint64_t ticks, const Values&... values) noexcept;
  Here of_process(std::uint64_t ticks, Bytes& out) noexcept;
  Here to_last(const Here& here, std::uint64_t ticks) noexcept;
  void put_context(std::uint64_t thread, std::uint64_t ticks, Bytes& out) noexcept;
  void put_named(const Here& here, Point point, const RunEvent& event) noexcept;
  void put_date(std::uint64_t ticks, Bytes& out) noexcept;
  void put_lost(const Here& here, const RunEvent& event) noexcept;
  void put_callers(const Here& here, const RunEvent& event, const Batch& batch) noexcept;
  void put_thread(const Here& here, const RunEvent& event, const RunThread& thread) noexcept;
  void put_event(const Here& here, const RunEvent& event, const Batch& batch) noexcept;
  void end_trace(ThreadTrace& trace, Bytes& out) noexcept;
  Status close_batch(const Here& here, std::size_t before) noexcept;
  void hand_over(const Bytes& out) noexcept;

  // telling.cpp
  void put_post(const Here& here, std::uint64_t ticks, const Post& post) noexcept;
  void put_registered(const Here& here, std::uint64_t ticks, const Post& post) noexcept;

  bool keep_name(FunctionNumber number, std::string_view name) noexcept;
  std::span<const std::uint8_t> name_of(FunctionNumber number) const noexcept;
  ThreadTrace* trace_of(const RunThread& thread) noexcept;
  bool open_process() noexcept;
  void put_state(bool whole, Bytes& state) noexcept;
  bool apply_names(ByteSource& state) noexcept;
  void put_header_state(bool whole, Bytes& state) noexcept;
  bool apply_header(ByteSource& state) noexcept;
  std::size_t most_bytes_of(const RunEvent& event, const Batch& batch) const noexcept;

  TraceSelection selection_;
  std::array<std::uint8_t, 2> levels_{};  // of our components, + 1; 0 = off
  std::array<bool, kPointRows.size()> wanted_{};
  Type type_ = Type::kExternal;
  RecordTaker* taker_ = nullptr;
  std::size_t handed_ = 0;  // what is behind it in the buffer the taker does not have yet
  Clock clock_;
  Bytes header_;  // of each file
  bool is_header_told_ = false;
  std::uint32_t pid_ = 0;
  std::uint64_t day_ = 0;  // that was told last
  RunLosses losses_;
  FunctionTexts texts_;
  // Of each function the parameters of its entries, which are its name.
  struct Name {
    std::uint64_t at;
    std::uint32_t size;
  };
  Bytes name_bytes_;
  GrowingArray<Name> names_;
  ThreadTrace process_;
  bool has_process_ = false;
  bool is_process_of_thread_ = false;   // its newest entry is some thread's
  GrowingArray<ThreadTrace*> threads_;  // by RunThread::number; null: nothing of it yet
  Bytes parameters_;
};

template <Point kPoint, class... Values>
void Openj9Sink::put(const Here& here, std::uint64_t ticks, const Values&... values) noexcept {
  if (!wants(kPoint)) return;
  const EntryHead<kHost>& head = head_of<kHost>(kPoint);
  parameters_.clear();
  if (put_parameters<kHost, kPoint>(ThreadTrace::most_parameters(type_, head), parameters_, values...) !=
      Status::kOk)
    ++losses_.texts_cut;
  (void)here.trace.put(ticks, head, parameters_.view(), here.out);
}

}  // namespace jitquill::openj9
