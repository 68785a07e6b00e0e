#include "writer/eventlog/call_profile.hpp"

#include <algorithm>
#include <new>

#include "writer/bytes/decimal.hpp"

namespace jitquill::eventlog {
namespace {

constexpr FunctionNumber kUnknown = ~FunctionNumber{0};

// An id of 0 would be none.
std::uint64_t counter_of(FunctionNumber function) noexcept {
  return function + std::uint64_t{1};
}

// eventlog2html leaves counters out that have no such members.
constexpr std::string_view kTickyJson = R"({"type":"jitquill","fvs":"","args":""})";

}  // namespace

CallProfile::~CallProfile() {
  for (Open* open : workers_.all()) delete open;
}

void CallProfile::set(const RunSettings& settings) noexcept {
  ticky_ = settings.eventlog_ticky;
  samples_ = settings.eventlog_samples;
  sampler_hz_ = settings.samples_hz;
  interval_ns_ = std::max<std::uint64_t>(settings.eventlog_interval_ns, 1);
}

void CallProfile::begin(LogPutter& log) noexcept {
  constexpr std::uint64_t kNsPerS = 1'000'000'000;
  const std::uint64_t period_ns = sampler_hz_ != 0 ? kNsPerS / sampler_hz_ : interval_ns_;
  if (samples_) log.put<Event::kProfBegin>(kNoCapability, 0, period_ns);
}

void CallProfile::define(const FunctionInfo& function, Level level, LogPutter& log) noexcept {
  constexpr std::string_view kNone;
  constexpr std::uint16_t kArity = 0;
  if (ticky_ && level == Level::k9_0)
    log.put<Event::kTickyCounterDef9_0>(kNoCapability, 0, counter_of(function.number), kArity, kNone,
                                        function.name);
  if (ticky_ && level > Level::k9_0)
    log.put<Event::kTickyCounterDef>(kNoCapability, 0, counter_of(function.number), kArity, kNone,
                                     function.name, function.address, kTickyJson);
  if (!samples_) return;
  Bytes place;
  place.raw(function.file);
  if (function.line != 0) place.u8(':').raw(Decimal(function.line).view());
  log.put<Event::kHeapProfCostCentre>(
      kNoCapability, 0, kFirstCentre + function.number, function.name, kNone,
      std::string_view(reinterpret_cast<const char*>(place.view().data()), place.size()), std::uint8_t{0});
}

CallProfile::Open* CallProfile::open(std::uint32_t worker) noexcept {
  if (!workers_.grow_to(std::max<std::size_t>(workers_.size(), worker + std::size_t{1}), nullptr))
    return nullptr;
  if (workers_[worker] == nullptr) workers_[worker] = new (std::nothrow) Open;
  return workers_[worker];
}

void CallProfile::end_worker(std::uint32_t worker) noexcept {
  if (worker >= workers_.size()) return;
  delete workers_[worker];
  workers_[worker] = nullptr;
}

void CallProfile::take(std::uint32_t worker, std::uint16_t capability, std::span<const RunEvent> calls,
                       std::uint64_t base_ns, LogPutter& log) noexcept {
  if (Open* const of = samples_ && sampler_hz_ == 0 ? open(worker) : nullptr) {
    log.close();  // ticks are earlier than what was put before
    sample(*of, capability, calls, base_ns, log);
    log.close();
  }
  if (!ticky_) return;
  count(calls);
  const std::uint64_t last_ns = calls.back().when_ns;
  const std::uint64_t when_ns = last_ns > base_ns ? last_ns - base_ns : 0;
  if (when_ns >= next_counters_ns_) put_counters(when_ns, log);
  log.close();  // what follows is of earlier calls
}

void CallProfile::take(const SampleView& sample, std::uint16_t capability, std::uint64_t when_ns,
                       LogPutter& log) noexcept {
  std::uint32_t stack[kMostListed];
  std::size_t size = 0;
  for (const SampleFrame& frame : sample.frames.first(std::min(sample.frames.size(), kMostListed)))
    stack[size++] = kFirstCentre + frame.function;
  if (samples_ && size != 0)
    log.put<Event::kProfSampleCostCentre>(kNoCapability, when_ns, std::uint32_t{capability}, ++sampled_,
                                          std::span<const std::uint32_t>(stack, size));
}

void CallProfile::count(std::span<const RunEvent> calls) noexcept {
  for (const RunEvent& call : calls) {
    if (call.kind != RunEventKind::kEnter) continue;
    Counter* const counter = counters_.change(call.function);
    if (counter != nullptr && counter->entries++ == 0) (void)counted_.push(call.function);
  }
}

// Those that were not entered are left out, as GHC does.
void CallProfile::put_counters(std::uint64_t when_ns, LogPutter& log) noexcept {
  next_counters_ns_ = when_ns - when_ns % interval_ns_ + interval_ns_;
  if (counted_.empty()) return;
  log.put<Event::kTickyCounterBeginSample>(kNoCapability, when_ns);
  for (const FunctionNumber function : counted_.all()) {
    Counter* const counter = counters_.change(function);
    if (counter == nullptr) continue;
    log.put<Event::kTickyCounterSample>(kNoCapability, when_ns, counter_of(function), counter->entries,
                                        std::uint64_t{0}, std::uint64_t{0});
    counter->entries = 0;
  }
  counted_.clear();
}

void CallProfile::sample(Open& open, std::uint16_t capability, std::span<const RunEvent> calls,
                         std::uint64_t base_ns, LogPutter& log) noexcept {
  for (const RunEvent& call : calls) {
    const std::uint64_t when_ns = call.when_ns > base_ns ? call.when_ns - base_ns : 0;
    if (when_ns >= open.next_ns) put_ticks(open, capability, when_ns, log);
    // So many are around it, whether or not their entries were seen.
    if (!open.functions.grow_to(std::max<std::size_t>(open.functions.size(), call.depth), kUnknown)) return;
    open.functions.cut(call.depth);
    if (call.kind == RunEventKind::kEnter) (void)open.functions.push(call.function);
  }
}

void CallProfile::put_ticks(Open& open, std::uint16_t capability, std::uint64_t until_ns,
                            LogPutter& log) noexcept {
  const std::uint64_t first_ns = open.next_ns;
  const std::uint64_t behind = until_ns / interval_ns_ + 1;  // the number of the tick behind
  open.next_ns = behind * interval_ns_;
  std::uint32_t stack[kMostListed];
  std::size_t size = 0;
  for (std::size_t i = open.functions.size(); i-- > 0 && size < kMostListed;) {
    if (open.functions[i] != kUnknown) stack[size++] = kFirstCentre + open.functions[i];
  }
  if (size == 0) return;
  const std::uint64_t first = first_ns / interval_ns_;
  const std::uint64_t end = std::min(behind, first + kMostTicks);
  for (std::uint64_t tick = first; tick < end; ++tick)
    log.put<Event::kProfSampleCostCentre>(kNoCapability, tick * interval_ns_, std::uint32_t{capability}, tick,
                                          std::span<const std::uint32_t>(stack, size));
}

void CallProfile::put_head(Bytes& state) const noexcept {
  state.u8(ticky_ ? 1 : 0)
      .u8(samples_ ? 1 : 0)
      .uleb128(sampler_hz_)
      .uleb128(sampled_)
      .uleb128(interval_ns_)
      .uleb128(next_counters_ns_);
}

void CallProfile::put_changes(Bytes& state) noexcept {
  put_head(state);
  counters_.put_changes(state);
}

void CallProfile::put_all(Bytes& state) noexcept {
  put_head(state);
  counters_.put_all(state);
}

bool CallProfile::apply(ByteSource& state) noexcept {
  ticky_ = state.u8() != 0;
  samples_ = state.u8() != 0;
  sampler_hz_ = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  sampled_ = state.uleb128();
  interval_ns_ = std::max<std::uint64_t>(state.uleb128(), 1);
  next_counters_ns_ = state.uleb128();
  if (!counters_.apply(state)) return false;
  counted_.clear();
  for (FunctionNumber i = 0; i < counters_.size(); ++i) {
    if (counters_[i].entries != 0 && !counted_.push(i)) return false;
  }
  return !state.failed();
}

}  // namespace jitquill::eventlog
