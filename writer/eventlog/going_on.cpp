// The eventlog sink's part that begins logs in the middle: behind one that is full, or for who comes late.
//
// What was defined keeps its own time, and so has each thread its creation, so that nothing in the new log
// stands before it. What goes on (a thread runs, a collection) begins anew with the last that was told of it.
#include <algorithm>

#include "writer/bytes/decimal.hpp"
#include "writer/eventlog/sink.hpp"

namespace jitquill::eventlog {
namespace {

using Kind = RuntimeEventKind;

constexpr unsigned kKindShift = 32;
constexpr std::string_view kGoesOn = "this log is full and goes on in the next file";

constexpr std::uint64_t key_of(Kind kind, std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(kind) << kKindShift | (number & 0xFFFFFFFF);
}

// What is told once and holds from then on; its number is the first field, where many of them are.
constexpr bool is_numbered(Kind kind) noexcept {
  return kind == Kind::kCounterNamed || kind == Kind::kAllocationSite;
}
constexpr bool is_kept(Kind kind) noexcept {
  return is_numbered(kind) || kind == Kind::kHeapInfo || kind == Kind::kRuntimeNamed ||
         kind == Kind::kHeapProfileBegin;
}

// | event u16 | when u64 |
std::uint64_t time_of(std::span<const std::uint8_t> record) noexcept {
  std::uint64_t when_ns = 0;
  for (const std::uint8_t byte : record.subspan(2, 8)) when_ns = when_ns << 8 | byte;
  return when_ns;
}

void put_kept(LogPutter& log, std::uint16_t capability, std::span<const std::uint8_t> record) noexcept {
  log.go_to(capability, time_of(record));
  log.out().raw(record);
}

}  // namespace

void EventlogSink::keep(const RuntimeEvent& event, const RuntimePlace& place,
                        std::span<const std::uint8_t> record) noexcept {
  const Kind kind = event.row()->kind;
  if (kind == Kind::kThreadFinished) return kept_.drop(key_of(Kind::kThreadNamed, place.thread));
  if (record.empty()) return;  // the level's readers do not know it
  if (kind == Kind::kThreadNamed) kept_.keep(key_of(kind, place.thread), record);
  if (is_kept(kind)) kept_.keep(key_of(kind, is_numbered(kind) ? event.number(0) : 0), record);
}

void EventlogSink::keep_label(std::uint32_t thread, std::uint64_t when_ns, std::string_view name) noexcept {
  Bytes record;
  (void)put<Event::kThreadLabel>(when_ns, record, thread, name);
  if (!record.failed()) kept_.keep(key_of(Kind::kThreadNamed, thread), record.view());
}

// Threads' creation stands in front of all that others tell of them. What nobody has may be many: whoever
// comes next makes it anew.
void EventlogSink::put_settled(LogPutter& log) noexcept {
  put_missing_creations(log);
  for (std::size_t i = 0; i < capabilities_.size(); ++i) {
    const Capabilities::Row& row = capabilities_[i];
    if (row.is_there == 0 || row.is_enabled != 0 || row.is_in_use != 0) continue;
    const auto number = static_cast<std::uint16_t>(i);
    delete_capability(log, number, row.last_ns);
    if (Capabilities::Row* const changed = capabilities_.change(number)) changed->deleted_ns = 0;
  }
}

Status EventlogSink::settle(Bytes& out) noexcept {
  LogPutter log(out, losses_);
  put_settled(log);
  log.close();
  return done(out);
}

// Who runs stops, as at the end, but what there is stays. The time of the last event.
std::uint64_t EventlogSink::put_stops(LogPutter& log) const noexcept {
  std::uint64_t end_ns = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    end_ns = std::max(end_ns, worker.last_ns);
    if (worker.is_collecting != 0) log.put<Event::kGcEnd>(worker.capability, worker.last_ns);
    if (worker.running != 0)
      log.put<Event::kStopThread>(worker.capability, worker.last_ns, threads_[worker.running - 1].number,
                                  kYields, std::uint32_t{0});
  }
  return end_ns;
}

Status EventlogSink::leave_off(Bytes& out) noexcept {
  LogPutter log(out, losses_);
  put_settled(log);
  const std::uint64_t end_ns = put_stops(log);
  log.put<Event::kLogMsg>(kNoCapability, end_ns, kGoesOn);
  log.close();
  put_end(out);
  return done(out);
}

Status EventlogSink::begin_again(Bytes& out) noexcept {
  if (!kept_.has(kStart)) return Status::kOff;
  out.raw(kept_.record(kStart));
  RunLosses counted_before;
  LogPutter log(out, counted_before);
  put_capabilities(0, 0, log);
  put_definitions(log);
  put_threads(0, log);
  put_running(log);
  log.close();
  return done(out);
}

Status EventlogSink::leave_out(ReaderMark& mark, Bytes& out) noexcept {
  RunLosses counted_before;
  LogPutter log(out, counted_before);
  (void)put_stops(log);
  log.close();
  mark = {static_cast<std::uint32_t>(capabilities_.size()), static_cast<std::uint32_t>(workers_.size()),
          static_cast<std::uint32_t>(threads_.size())};
  return done(out);
}

// What ended meanwhile does not end in this log.
Status EventlogSink::take_in(const ReaderMark& mark, std::uint64_t lost, Bytes& out) noexcept {
  Bytes words;
  words.raw(Decimal(lost).view())
      .raw(std::string_view(" bytes of this log are lost here: its reader was too slow"));
  std::uint64_t now_ns = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) now_ns = std::max(now_ns, workers_[i].last_ns);
  RunLosses counted_before;
  LogPutter log(out, counted_before);
  log.put<Event::kLogMsg>(kNoCapability, now_ns,
                          std::string_view(reinterpret_cast<const char*>(words.view().data()), words.size()));
  put_capabilities(mark[0], mark[1], log);
  put_definitions(log);
  put_threads(mark[2], log);
  put_running(log);
  log.close();
  return done(out);
}

void EventlogSink::put_definitions(LogPutter& log) const noexcept {
  kept_.each([&](std::span<const std::uint8_t> record, std::uint64_t key) {
    const bool is_label = key >> kKindShift == static_cast<std::uint64_t>(Kind::kThreadNamed);
    if (key != kStart && !is_label) put_kept(log, kNoCapability, record);
  });
}

// From these on.
void EventlogSink::put_capabilities(std::size_t first, std::size_t first_worker,
                                    LogPutter& log) const noexcept {
  for (std::size_t i = first; i < capabilities_.size(); ++i) {
    const auto number = static_cast<std::uint16_t>(i);
    if (capabilities_[i].is_there != 0) put_new_capability(log, number, 0);
  }
  for (std::size_t i = first_worker; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (worker.task_capability != kNoCapability)
      log.put<Event::kTaskCreate>(kNoCapability, 0, i + std::uint64_t{1}, worker.task_capability,
                                  std::uint64_t{worker.tid});
  }
  for (std::size_t i = first; i < capabilities_.size(); ++i) {
    const Capabilities::Row& row = capabilities_[i];
    if (row.is_there != 0 && row.is_enabled == 0)
      log.put<Event::kCapDisable>(kNoCapability, row.last_ns, static_cast<std::uint16_t>(i));
  }
}

// A creation wants a capability that there is.
std::uint16_t EventlogSink::present(std::uint16_t capability) const noexcept {
  if (capability < capabilities_.size() && capabilities_[capability].is_there != 0) return capability;
  for (std::size_t i = 0; i < capabilities_.size(); ++i) {
    if (capabilities_[i].is_there != 0) return static_cast<std::uint16_t>(i);
  }
  return kNoCapability;
}

void EventlogSink::put_threads(std::size_t first, LogPutter& log) const noexcept {
  for (auto i = static_cast<Threads::Index>(first); i < threads_.size(); ++i) {
    const Threads::Row& thread = threads_[i];
    if (thread.finished_ns != kNever) continue;
    const std::uint16_t capability = present(thread.first_capability);
    if (thread.created_ns != kNever)
      log.put<Event::kCreateThread>(capability, thread.created_ns, thread.number);
    const auto label = kept_.record(key_of(Kind::kThreadNamed, thread.number));
    if (!label.empty()) put_kept(log, capability, label);
  }
}

void EventlogSink::put_running(LogPutter& log) const noexcept {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (worker.running != 0)
      log.put<Event::kRunThread>(worker.capability, worker.last_ns, threads_[worker.running - 1].number);
    if (worker.is_collecting != 0) log.put<Event::kGcStart>(worker.capability, worker.last_ns);
  }
}

}  // namespace jitquill::eventlog
