// The eventlog sink's part that is hot: entries and exits.
#include <bit>
#include <cstring>

#include "writer/bytes/decimal.hpp"
#include "writer/eventlog/sink.hpp"

namespace jitquill::eventlog {
namespace {

constexpr std::size_t kCallSize = kRecordHeadSize + LayoutOf<Event::kEnter>::kLeastSize;
static_assert(kCallSize == kRecordHeadSize + LayoutOf<Event::kLeave>::kLeastSize && kCallSize == 14);
constexpr std::size_t kUnwoundSize = kRecordHeadSize + LayoutOf<Event::kUnwound>::kLeastSize;
constexpr std::size_t kStackSize = kRecordHeadSize + LayoutOf<Event::kStack>::kLeastSize;
constexpr std::size_t kMostSize = kStackSize + kUnwoundSize + 2;  // two words are stored for a call
constexpr std::size_t kAtOnce = 512;

constexpr std::uint64_t big(std::uint64_t v) noexcept {
  return std::endian::native == std::endian::big ? v : __builtin_bswap64(v);
}

// | event u16 | when u64 | function u32 |, as two words, the second of which is longer than it.
inline std::uint8_t* put_call(std::uint8_t* at, std::uint16_t event, std::uint64_t when_ns,
                              FunctionNumber function) noexcept {
  const std::uint64_t first = big(std::uint64_t{event} << 48 | when_ns >> 16);
  const std::uint64_t second = big(when_ns << 48 | std::uint64_t{function} << 16);
  std::memcpy(at, &first, sizeof first);
  std::memcpy(at + sizeof first, &second, sizeof second);
  return at + kCallSize;
}

std::uint8_t* put_stack(std::uint8_t* at, std::uint64_t when_ns, std::uint16_t stack) noexcept {
  (void)put_call(at, number_of(Event::kStack), when_ns, FunctionNumber{stack} << 16);
  return at + kStackSize;
}

}  // namespace

void EventlogSink::put_calls(const Here& here, std::span<const RunEvent> calls) noexcept {
  (void)go_to(here.worker, log_time(calls[0].when_ns));
  serve(here);
  std::uint64_t when_ns = here.worker.last_ns;
  if (profile_.is_wanted()) profile_.take(here.number, here.worker.capability, calls, base_ns_, here.log);
  if (messages_) put_messages(here, calls);
  if (!own_) {
    (void)go_to(here.worker, log_time(calls.back().when_ns));
    return;
  }
  here.log.go_to(here.worker.capability, when_ns);
  const std::uint64_t base_ns = base_ns_;
  std::uint16_t stack = here.log.stack();
  while (!calls.empty()) {
    const auto some = calls.first(calls.size() < kAtOnce ? calls.size() : kAtOnce);
    calls = calls.subspan(some.size());
    std::uint8_t* at = here.log.out().reserve(some.size() * kMostSize);
    if (at == nullptr) return;
    for (const RunEvent& call : some) {
      const std::uint64_t at_ns = call.when_ns - base_ns;  // before time 0: a large number, so it is checked
      when_ns = static_cast<std::int64_t>(at_ns - when_ns) > 0 ? at_ns : when_ns;
      if (call.stack != stack) [[unlikely]]
        at = put_stack(at, when_ns, stack = call.stack);
      const bool is_exit = call.kind == RunEventKind::kLeave;
      static_assert(number_of(Event::kLeave) == number_of(Event::kEnter) + 1);
      std::uint16_t event = static_cast<std::uint16_t>(number_of(Event::kEnter) + is_exit);
      const bool is_unwound = call.end > FrameEnd::kReturned;
      if (is_unwound) [[unlikely]]
        event = number_of(Event::kUnwound);
      at = put_call(at, event, when_ns, call.function);
      if (is_unwound) [[unlikely]]
        *at++ = static_cast<std::uint8_t>(call.end);
    }
    here.log.out().put_up_to(Cursor(at));
  }
  here.log.saw(go_to(here.worker, when_ns), stack);
}

// As ghc-events-analyze wants them.
void EventlogSink::put_messages(const Here& here, std::span<const RunEvent> calls) noexcept {
  Worker at = here.worker;
  for (const RunEvent& call : calls) {
    const bool is_enter = call.kind == RunEventKind::kEnter;
    Bytes words;
    words.raw(std::string_view(is_enter ? "START " : "STOP ")).raw(texts_.name(call.function));
    here.log.put<Event::kUserMsg>(
        at.capability, go_to(at, log_time(call.when_ns)),
        std::string_view(reinterpret_cast<const char*>(words.view().data()), words.size()));
  }
  // A block of its own, since the calls' times are the same.
  here.log.close();
}

// Of the innermost as many as a record of the format has.
void EventlogSink::put_callers(const Here& here, const RunEvent& event, const Batch& batch) noexcept {
  if (!own_ || event.amount >= batch.stacks.size()) return;
  const CallStack& stack = batch.stacks[event.amount];
  const bool is_partial = stack.is_partial || stack.callers.size() > kMostListed;
  here.log.put<Event::kCallers>(here.worker.capability, here.worker.last_ns, event.function,
                                static_cast<std::uint8_t>(is_partial ? 1 : 0),
                                stack.callers.first(std::min(stack.callers.size(), kMostListed)));
}

// Among them may be the end of what went on before: else all that is told behind them would be refused.
void EventlogSink::put_lost(const Here& here, const RunEvent& event) noexcept {
  const std::uint64_t when_ns = here.worker.last_ns;
  stop_all(here);
  here.worker.has_lost = 1;
  Bytes words;
  words.raw(Decimal(event.amount).view()).raw(std::string_view(" records of this thread are lost"));
  const std::string_view text(reinterpret_cast<const char*>(words.view().data()), words.size());
  here.log.put<Event::kLogMsg>(here.worker.capability, when_ns, text);
  if (own_)
    here.log.put<Event::kLost>(here.worker.capability, when_ns, event.amount, log_time(event.since_ns));
}

// Of the thread that had that number last; 0 as for one that is none.
std::uint16_t EventlogSink::capability_of(std::uint32_t tid) const noexcept {
  for (std::size_t i = workers_.size(); i-- > 0;) {
    if (workers_[i].tid == tid && workers_[i].capability != kNoCapability) return workers_[i].capability;
  }
  return 0;
}

// A counter of samples goes on by one with each, in a thread of the system; "period" is one less than that.
Status EventlogSink::samples(const SampleBatch& batch, Bytes& out) noexcept {
  constexpr std::uint64_t kPeriod = 0;
  LogPutter log(out, losses_);
  for (const SampleView& sample : batch.samples) {
    const std::uint64_t when_ns = log_time(sample.when_ns);
    log.put<Event::kPerfCounter>(kNoCapability, when_ns, kSamplesCounter, std::uint64_t{sample.tid}, kPeriod);
    profile_.take(sample, capability_of(sample.tid), when_ns, log);
  }
  log.close();
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

}  // namespace jitquill::eventlog
