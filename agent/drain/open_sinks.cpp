#include "agent/drain/open_sinks.hpp"

#include <cerrno>
#include <span>

#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"

namespace jitquill {
namespace {

// What the caller is told of several sinks: a failure before a limit before success.
Status worse(Status a, Status b) noexcept {
  if (!is_done(a)) return a;
  if (!is_done(b)) return b;
  return a != Status::kOk ? a : b;
}

void say_sink(Log& log, const SinkRow& row, Status status) noexcept {
  Message line;
  (void)log.say(line.text(row.name).text(": ").text(text(status)).view());
}

void say_off(Log& log, const SinkRow& row, Status status) noexcept {
  Message line;
  line.text(row.name).text(": switched off after three failures in a row: ").text(text(status));
  log.say_for_sure(line.view());
}

}  // namespace

std::size_t OpenSinks::find(const SinkRow& row) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (open_[i].row == &row) return i;
  }
  return kNone;
}

bool OpenSinks::join(Sink& sink, const SinkRow& row) noexcept {
  if (count_ == kMost) return false;
  open_[count_++] = {&sink, &row, 0, false};
  return true;
}

Sink* OpenSinks::joined(const SinkRow& row) noexcept {
  const std::size_t index = find(row);
  return index == kNone ? nullptr : open_[index].sink;
}

void OpenSinks::leave(const SinkRow& row) noexcept {
  const std::size_t index = find(row);
  if (index == kNone) return;
  open_[index].sink->abandon();
  drop(index);
}

Status OpenSinks::open(std::uint32_t formats, const Origin& origin, const Outlets& outlets,
                       Log& log) noexcept {
  Status all = Status::kOk;
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size() && count_ < kMost; ++i) {
    if ((formats >> i & 1) == 0 || rows[i].make == nullptr || find(rows[i]) != kNone) continue;
    Sink* sink = rows[i].make();
    const Status status = sink == nullptr ? Status::kNoMemory : sink->begin(origin, outlets);
    if (status != Status::kOk) say_sink(log, rows[i], status);
    all = worse(all, status);
    if (is_done(status)) {
      open_[count_++] = {sink, &rows[i], 0, false};
    } else {
      count(Counter::write_errors);
      delete sink;
    }
  }
  return all;
}

void OpenSinks::drop(std::size_t index) noexcept {
  delete open_[index].sink;
  open_[index] = open_[--count_];
}

void OpenSinks::note_failure(std::size_t index, Status status, Log& log) noexcept {
  count(Counter::write_errors);
  Open& open = open_[index];
  if (++open.failures == 1) say_sink(log, *open.row, status);
  if (open.failures < kFailuresToSwitchOff) return;
  say_off(log, *open.row, status);
  count(Counter::outputs_switched_off);
  open.sink->abandon();
  drop(index);
}

bool OpenSinks::is_within(const Open& open, Reach reach) noexcept {
  if (reach == Reach::kFiles) return !open.sink->is_in_memory();
  return reach == Reach::kAll || open.owes;
}

template <class Call>
Status OpenSinks::each(Call call, Log& log, Reach reach) noexcept {
  met_limit_ = false;
  Status all = Status::kOk;
  bool is_taken = false;
  for (std::size_t i = count_; i-- > 0;) {  // backwards: a failure may take row i out
    if (!is_within(open_[i], reach)) continue;
    const Status status = call(*open_[i].sink);
    is_taken = true;
    all = worse(all, status);
    if (status == Status::kFull) {
      met_limit_ = true;
    } else if (is_done(status)) {
      open_[i].failures = 0;
    } else {
      note_failure(i, status, log);
    }
  }
  return is_taken ? all : Status::kOff;
}

Status OpenSinks::load(const CodeLoad& load, Written& written, Log& log, Reach reach) noexcept {
  return each([&](Sink& sink) { return sink.load(load, written); }, log, reach);
}

void OpenSinks::hold() noexcept {
  for (Open& open : std::span(open_, count_)) open.sink->hold();
}

bool OpenSinks::release() noexcept {
  bool is_written = true;
  for (Open& open : std::span(open_, count_)) {
    const Status status = open.sink->release();
    open.owes = !is_done(status);
    is_written = is_written && !open.owes;
  }
  return is_written;
}

Status OpenSinks::move(const CodeMove& move, Written& written, Log& log) noexcept {
  return each([&](Sink& sink) { return sink.move(move, written); }, log);
}

Status OpenSinks::unload(const CodeUnload& unload, Log& log) noexcept {
  return each([&](Sink& sink) { return sink.unload(unload); }, log);
}

void OpenSinks::leave() noexcept {
  for (Open& open : std::span(open_, count_)) open.sink->leave();
}

void OpenSinks::end(std::uint64_t when_ns, Log& log) noexcept {
  (void)each([&](Sink& sink) { return sink.end(when_ns); }, log);
  while (count_ != 0) drop(count_ - 1);
}

void OpenSinks::hand_over(std::uint64_t when_ns, Log& log) noexcept {
  (void)each([&](Sink& sink) { return sink.hand_over(when_ns); }, log, Reach::kFiles);
  for (std::size_t i = count_; i-- > 0;) {
    if (!open_[i].sink->is_in_memory()) drop(i);
  }
}

void OpenSinks::abandon() noexcept {
  for (std::size_t i = count_; i-- > 0;) {
    if (open_[i].sink->is_in_memory()) continue;
    open_[i].sink->abandon();
    drop(i);
  }
}

}  // namespace jitquill
