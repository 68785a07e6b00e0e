#include "writer/eventlog/sink.hpp"

#include <algorithm>
#include <new>

#include "writer/bytes/decimal.hpp"

namespace jitquill::eventlog {
namespace {

constexpr std::uint64_t kNsPerS = 1'000'000'000;
constexpr std::uint16_t kOfProcess = 2, kOfClock = 3;  // types of capability sets
constexpr std::string_view kIdentifier = "jitquill";

std::string_view text_of(const Bytes& words) noexcept {
  return {reinterpret_cast<const char*>(words.view().data()), words.size()};
}

void put_arguments(LogPutter& log, std::string_view rest) noexcept {
  GrowingArray<std::string_view> arguments;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (!arguments.push({rest.data(), end})) break;
    const std::size_t next = std::min(end + 1, rest.size());
    rest = {rest.data() + next, rest.size() - next};
  }
  const std::span<const std::string_view> all(arguments.data(), arguments.size());
  if (!all.empty()) log.put<Event::kProgramArgs>(kNoCapability, 0, kProcessSet, all);
}

// An entry of GHC's tables of code: the name stands where tools look for one. Its closure's type is a number
// that all of them know.
void put_code_table(LogPutter& log, std::uint64_t when_ns, const CodeNews& news) noexcept {
  constexpr std::string_view kSomeClosure = "21", kNone;
  Bytes place;
  place.raw(news.file);
  if (news.line != 0) place.u8(':').raw(Decimal(news.line).view());
  log.put<Event::kIpe>(kNoCapability, when_ns, news.address, news.name, kSomeClosure, kNone, news.name, kNone,
                       text_of(place));
}

}  // namespace

void EventlogSink::set(const RunSettings& settings) noexcept {
  own_ = settings.eventlog_own;
  level_ = settings.eventlog_level;
  messages_ = settings.eventlog_messages;
  may_go_on_ = settings.may_go_on;
  has_sampler_ = settings.samples_hz != 0;
  profile_.set(settings);
}

Status EventlogSink::begin(const Origin& origin, Bytes& out) noexcept {
  Owner owners[3] = {Owner::kGhc};
  std::size_t owner_count = 1;
  if (has_sampler_) owners[owner_count++] = Owner::kPerfTools;
  if (own_) owners[owner_count++] = Owner::kJitquill;
  base_ns_ = origin.start_ns;
  put_header(std::span(owners).first(owner_count), out, static_cast<Level>(level_));
  LogPutter log(out, losses_);
  log.put<Event::kCapsetCreate>(kNoCapability, 0, kProcessSet, kOfProcess);
  log.put<Event::kCapsetCreate>(kNoCapability, 0, kClockSet, kOfClock);
  if (origin.unix_ns != 0)
    log.put<Event::kWallClockTime>(kNoCapability, 0, kClockSet, origin.unix_ns / kNsPerS,
                                   static_cast<std::uint32_t>(origin.unix_ns % kNsPerS));
  log.put<Event::kOsprocessPid>(kNoCapability, 0, kProcessSet, origin.pid);
  if (origin.parent_pid != 0)
    log.put<Event::kOsprocessPpid>(kNoCapability, 0, kProcessSet, origin.parent_pid);
  log.put<Event::kRtsIdentifier>(kNoCapability, 0, kProcessSet, kIdentifier);
  put_arguments(log, origin.arguments);
  if (own_) log.put<Event::kClockBase>(kNoCapability, 0, base_ns_);
  profile_.begin(log);
  if (has_sampler_) log.put<Event::kPerfName>(kNoCapability, 0, kSamplesCounter, std::string_view("samples"));
  log.close();
  if (may_go_on_ && !out.failed()) kept_.keep(kStart, out.view());
  return done(out);
}

Status EventlogSink::define(const FunctionInfo& function, Bytes& out) noexcept {
  const bool is_new = function.number >= texts_.size();
  if (messages_ && is_new && !texts_.define(function)) return Status::kNoMemory;
  LogPutter log(out, losses_);
  if (own_)
    log.put<Event::kFunction>(kNoCapability, 0, function.number, function.code_id, function.address,
                              function.size, function.line, function.name, function.file);
  profile_.define(function, static_cast<Level>(level_), log);
  log.close();
  return done(out);
}

Status EventlogSink::code(const CodeNews& news, Bytes& out) noexcept {
  LogPutter log(out, losses_);
  const std::uint64_t when_ns = log_time(news.when_ns);
  switch (news.kind) {
    case CodeNews::Kind::kLoad:
      if (own_)
        log.put<Event::kCodeLoad>(kNoCapability, when_ns, news.code_id, news.address, news.size, news.line,
                                  news.name, news.file);
      put_code_table(log, when_ns, news);
      break;
    case CodeNews::Kind::kMove:
      if (own_) log.put<Event::kCodeMove>(kNoCapability, when_ns, news.code_id, news.address, news.size);
      break;
    case CodeNews::Kind::kUnload:
      if (own_) log.put<Event::kCodeUnload>(kNoCapability, when_ns, news.code_id, news.address, news.size);
      break;
  }
  log.close();
  return done(out);
}

void EventlogSink::put_other(const Here& here, const RunEvent& event, const Batch& batch) noexcept {
  (void)go_to(here.worker, log_time(event.when_ns));
  if (event.kind == RunEventKind::kLost) put_lost(here, event);
  if (event.kind == RunEventKind::kStack) put_callers(here, event, batch);
  if (event.kind == RunEventKind::kThreadEnd) end_worker(here, true);
  if (event.kind == RunEventKind::kPost && event.amount < batch.posts.size())
    put_post(here, batch.posts[event.amount]);
}

Status EventlogSink::batch(const Batch& batch, Bytes& out) noexcept {
  Worker* const worker = workers_.change(batch.thread.number);
  if (worker == nullptr) return Status::kNoMemory;
  worker->tid = batch.thread.tid;
  LogPutter log(out, losses_);
  const Here here{*worker, batch.thread.number, batch.thread.name, log};
  const auto events = batch.events;
  for (std::size_t i = 0; i < events.size();) {
    std::size_t end = i;
    while (end < events.size() && events[end].kind <= RunEventKind::kLeave) ++end;
    if (end != i) put_calls(here, events.subspan(i, end - i));
    if (end < events.size()) put_other(here, events[end++], batch);
    i = end;
  }
  log.close();
  return done(out);
}

Status EventlogSink::cost(const RunCost& cost, Bytes& out) noexcept {
  if (!own_) return Status::kOk;
  LogPutter log(out, losses_);
  log.put<Event::kSelfCost>(kNoCapability, log_time(cost.when_ns), cost.cpu_ns, cost.records);
  log.close();
  return done(out);
}

// Who ran at the end is stopped, then all that there is goes, as in GHC's own logs.
Status EventlogSink::end(std::uint64_t when_ns, Bytes& out) noexcept {
  LogPutter log(out, losses_);
  std::uint64_t end_ns = log_time(when_ns);
  for (std::uint32_t i = 0; i < workers_.size(); ++i) {
    end_ns = std::max(end_ns, workers_[i].last_ns);
    if (workers_[i].task_capability == kNoCapability) continue;
    Worker* const worker = workers_.change(i);
    if (worker == nullptr) return Status::kNoMemory;
    (void)go_to(*worker, log_time(when_ns));
    end_worker({*worker, i, {}, log}, false);
  }
  profile_.end(end_ns, log);
  put_missing_creations(log);
  if (losses_.refused != 0) {
    Bytes words;
    words.raw(Decimal(losses_.refused).view());
    words.raw(std::string_view(" events left out that were told in an order that cannot be"));
    log.put<Event::kLogMsg>(kNoCapability, end_ns, text_of(words));
  }
  for (std::size_t i = 0; i < capabilities_.size(); ++i) {
    if (capabilities_[i].is_there != 0) delete_capability(log, static_cast<std::uint16_t>(i), end_ns);
  }
  log.put<Event::kCapsetDelete>(kNoCapability, end_ns, kProcessSet);
  log.put<Event::kCapsetDelete>(kNoCapability, end_ns, kClockSet);
  log.close();
  put_end(out);
  return done(out);
}

// | base | level | own | messages | may go on | bands | refused | cut | without | capabilities | threads |
// workers | profile | texts | kept |
void EventlogSink::put_head(Bytes& state) const noexcept {
  state.u64(base_ns_).u8(level_).u8(own_ ? 1 : 0).u8(messages_ ? 1 : 0).u8(may_go_on_ ? 1 : 0).u8(bands_);
  state.uleb128(losses_.refused).uleb128(losses_.cut).uleb128(losses_.without_capability);
}

void EventlogSink::put_changes(Bytes& state) noexcept {
  put_head(state);
  capabilities_.put_changes(state);
  threads_.put_changes(state);
  workers_.put_changes(state);
  profile_.put_changes(state);
  texts_.put_new(state);
  kept_.put_changes(state);
}

void EventlogSink::put_all(Bytes& state) noexcept {
  put_head(state);
  capabilities_.put_all(state);
  threads_.put_all(state);
  workers_.put_all(state);
  profile_.put_all(state);
  texts_.put_all(state);
  kept_.put_all(state);
}

bool EventlogSink::apply(std::span<const std::uint8_t> bytes) noexcept {
  ByteSource state(bytes);
  base_ns_ = state.u64();
  level_ = state.u8();
  own_ = state.u8() != 0;
  messages_ = state.u8() != 0;
  may_go_on_ = state.u8() != 0;
  bands_ = state.u8();
  losses_.refused = state.uleb128();
  losses_.cut = state.uleb128();
  losses_.without_capability = state.uleb128();
  const auto is_good = [&](const Worker& worker) {
    return worker.running <= threads_.size() && worker.system <= threads_.size();
  };
  const bool is_applied =
      capabilities_.apply(state) && threads_.apply(state) && workers_.apply(state, is_good);
  if (!is_applied || !profile_.apply(state) || !texts_.apply(state) || !kept_.apply(state)) return false;
  return !state.failed() && state.is_at_end();
}

}  // namespace jitquill::eventlog

namespace jitquill {

RunSink* make_eventlog_sink() noexcept {
  return new (std::nothrow) eventlog::EventlogSink;
}

}  // namespace jitquill
