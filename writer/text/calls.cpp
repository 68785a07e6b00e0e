// The sink of the format calls (docs/calls.md).
#include <algorithm>
#include <charconv>
#include <new>

#include "writer/bytes/decimal.hpp"
#include "writer/bytes/names.hpp"
#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"
#include "writer/text/event_text.hpp"

namespace jitquill {
namespace {

constexpr std::uint64_t kNsPerS = 1'000'000'000;
constexpr std::uint64_t kNsPerUs = 1'000;
constexpr std::size_t kThreadColumn = 22;
constexpr std::size_t kDurationColumn = 12;
constexpr std::size_t kSecondsColumn = 7;
constexpr unsigned kMostIndented = 60;  // a recursion of 10^5 would be a file of gigabytes otherwise

const char* word_of(FrameEnd end) noexcept {
  switch (end) {
#define RUN_EVENT(name, number, since, amount)
#define FRAME_END(name, number, word, how) \
  case FrameEnd::name:                     \
    return word;
#include "writer/model/run_event.def"
#undef FRAME_END
#undef RUN_EVENT
    case FrameEnd::kNone:
      break;
  }
  return "?";
}

void put_right(Bytes& out, std::string_view text, std::size_t width) noexcept {
  if (text.size() < width) out.fill(' ', width - text.size());
  out.raw(text);
}

// <whole>.<digits of the rest>, right-aligned.
void put_fraction(Bytes& out, std::uint64_t value, std::uint64_t unit, std::size_t width) noexcept {
  put_right(out, Decimal(value / unit).view(), width);
  char digits[10];
  std::uint64_t rest = value % unit;
  std::size_t count = 0;
  for (std::uint64_t u = unit; u > 1; u /= 10) ++count;
  for (std::size_t i = count; i-- > 0; rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  out.u8('.').raw(std::string_view(digits, count));
}

class CallsSink final : public RunSink {
 public:
  Status begin(const Origin& origin, Bytes& out) noexcept override;
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status batch(const Batch& batch, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  void put_changes(Bytes& state) noexcept override { texts_.put_new(state); }
  void put_all(Bytes& state) noexcept override { texts_.put_all(state); }
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  void put_thread(const RunThread& thread) noexcept;
  void put_start(std::uint64_t when_ns, Bytes& out) noexcept;
  void put_duration(std::uint64_t ns, Bytes& out) noexcept;
  void put_indent(const RunEvent& event, Bytes& out) noexcept;
  void put_name(const RunEvent& enter, Bytes& out) noexcept;
  void put_how(FrameEnd end, Bytes& out) noexcept;
  void put_enter(const RunEvent& enter, Bytes& out) noexcept;
  void put_leave(const RunEvent& leave, Bytes& out) noexcept;
  void put_leaf(const RunEvent& enter, const RunEvent& leave, Bytes& out) noexcept;
  void put_other(const RunEvent& event, const Batch& batch, Bytes& out) noexcept;
  void put_call_stack(const RunEvent& event, const Batch& batch, Bytes& out) noexcept;

  FunctionTexts texts_;
  Bytes thread_;  // its column, of the batch at hand
};

Status CallsSink::begin(const Origin& origin, Bytes& out) noexcept {
  out.raw(std::string_view("# jitquill calls 1, process ")).raw(Decimal(origin.pid).view());
  out.raw(std::string_view("; times are CLOCK_MONOTONIC in s, durations are in us\n"));
  out.raw(std::string_view("#            time | thread                 |       duration | calls\n"));
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

Status CallsSink::define(const FunctionInfo& function, Bytes&) noexcept {
  return texts_.define(function) ? Status::kOk : Status::kNoMemory;
}

void CallsSink::put_thread(const RunThread& thread) noexcept {
  thread_.clear();
  if (!thread.name.empty()) {
    (void)put_clean(thread_, thread.name);
    thread_.u8('-');
  }
  thread_.raw(Decimal(thread.tid).view());
  if (thread_.size() < kThreadColumn) thread_.fill(' ', kThreadColumn - thread_.size());
}

void CallsSink::put_start(std::uint64_t when_ns, Bytes& out) noexcept {
  put_fraction(out, when_ns, kNsPerS, kSecondsColumn);
  out.raw(std::string_view(" | ")).raw(thread_.view()).raw(std::string_view(" | "));
}

void CallsSink::put_duration(std::uint64_t ns, Bytes& out) noexcept {
  put_fraction(out, ns, kNsPerUs, kDurationColumn - 1);
  out.raw(std::string_view(" | "));
}

void CallsSink::put_indent(const RunEvent& event, Bytes& out) noexcept {
  const unsigned depth = event.depth;
  out.fill(' ', 2 * std::size_t{depth < kMostIndented ? depth : kMostIndented});
  if (depth > kMostIndented)
    out.raw(std::string_view("(+")).raw(Decimal(depth - kMostIndented).view()).raw(std::string_view(") "));
}

void CallsSink::put_name(const RunEvent& enter, Bytes& out) noexcept {
  const std::string_view name = texts_.name(enter.function);
  out.raw(name);
  if (name.find('(') == name.npos) out.raw(std::string_view("()"));
}

void CallsSink::put_how(FrameEnd end, Bytes& out) noexcept {
  if (end != FrameEnd::kReturned)
    out.raw(std::string_view(" /* ")).raw(std::string_view(word_of(end))).raw(std::string_view(" */"));
  out.u8('\n');
}

void put_stack(const RunEvent& event, Bytes& out) noexcept {
  if (event.stack == 0) return;
  out.raw(std::string_view(" /* stack ")).raw(Decimal(event.stack).view()).raw(std::string_view(" */"));
}

void CallsSink::put_enter(const RunEvent& enter, Bytes& out) noexcept {
  put_start(enter.when_ns, out);
  out.fill(' ', kDurationColumn + 3).raw(std::string_view(" | "));
  put_indent(enter, out);
  put_name(enter, out);
  out.raw(std::string_view(" {"));
  put_stack(enter, out);
  out.u8('\n');
}

void CallsSink::put_leave(const RunEvent& leave, Bytes& out) noexcept {
  put_start(leave.when_ns, out);
  put_duration(leave.when_ns - leave.since_ns, out);
  put_indent(leave, out);
  out.u8('}');
  put_stack(leave, out);
  put_how(leave.end, out);
}

void CallsSink::put_leaf(const RunEvent& enter, const RunEvent& leave, Bytes& out) noexcept {
  put_start(enter.when_ns, out);
  put_duration(leave.when_ns - enter.when_ns, out);
  put_indent(enter, out);
  put_name(enter, out);
  out.u8(';');
  put_stack(enter, out);
  put_how(leave.end, out);
}

// What is no call, as a comment.
void CallsSink::put_other(const RunEvent& event, const Batch& batch, Bytes& out) noexcept {
  put_start(event.when_ns, out);
  out.fill(' ', kDurationColumn + 3).raw(std::string_view(" | "));
  if (event.kind == RunEventKind::kPost || event.kind == RunEventKind::kStack) put_indent(event, out);
  out.raw(std::string_view("/* "));
  if (event.kind == RunEventKind::kThreadBegin) out.raw(std::string_view("thread begins"));
  if (event.kind == RunEventKind::kThreadEnd) out.raw(std::string_view("thread ends"));
  if (event.kind == RunEventKind::kLost) {
    out.raw(Decimal(event.amount).view()).raw(std::string_view(" records lost between "));
    put_fraction(out, event.since_ns, kNsPerS, 0);
    out.raw(std::string_view(" and "));
    put_fraction(out, event.when_ns, kNsPerS, 0);
  }
  if (event.kind == RunEventKind::kStack) {
    out.raw(std::string_view("call stack of "));
    put_name(event, out);
  }
  if (event.kind == RunEventKind::kPost && event.amount < batch.posts.size())
    put_post(batch.posts[event.amount], out);
  out.raw(std::string_view(" */\n"));
}

// A line for each caller, as ftrace has them, in the column of calls.
void CallsSink::put_call_stack(const RunEvent& event, const Batch& batch, Bytes& out) noexcept {
  if (event.amount >= batch.stacks.size()) return;
  const CallStack& stack = batch.stacks[event.amount];
  const auto put_line = [&](std::string_view name) {
    put_start(event.when_ns, out);
    out.fill(' ', kDurationColumn + 3).raw(std::string_view(" | "));
    out.fill(' ', 2 * std::size_t{std::min<unsigned>(event.depth, kMostIndented)});
    out.raw(std::string_view(" => ")).raw(name).u8('\n');
  };
  for (const FunctionNumber caller : stack.callers) put_line(texts_.name(caller));
  if (stack.is_partial) put_line("... /* frames may be missing */");
}

bool is_entry_of(const RunEvent& stack, const RunEvent& before) noexcept {
  return before.kind == RunEventKind::kEnter && before.function == stack.function;
}

bool is_leaf(const RunEvent& enter, const RunEvent& next) noexcept {
  return next.kind == RunEventKind::kLeave && next.function == enter.function && next.depth == enter.depth &&
         next.stack == enter.stack && next.since_ns == enter.when_ns;
}

Status CallsSink::batch(const Batch& batch, Bytes& out) noexcept {
  put_thread(batch.thread);
  const auto events = batch.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const RunEvent& event = events[i];
    if (event.kind == RunEventKind::kStack) {
      if (i == 0 || !is_entry_of(event, events[i - 1])) put_other(event, batch, out);
      put_call_stack(event, batch, out);
    } else if (event.kind == RunEventKind::kLeave) {
      put_leave(event, out);
    } else if (event.kind != RunEventKind::kEnter) {
      put_other(event, batch, out);
    } else if (i + 1 < events.size() && is_leaf(event, events[i + 1])) {
      put_leaf(event, events[++i], out);
    } else {
      put_enter(event, out);
    }
  }
  return out.failed() || thread_.failed() ? Status::kNoMemory : Status::kOk;
}

Status CallsSink::end(std::uint64_t when_ns, Bytes& out) noexcept {
  out.raw(std::string_view("# ended at "));
  put_fraction(out, when_ns, kNsPerS, 0);
  out.u8('\n');
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

bool CallsSink::apply(std::span<const std::uint8_t> state) noexcept {
  ByteSource source(state);
  return texts_.apply(source) && source.is_at_end();
}

}  // namespace

RunSink* make_calls_sink() noexcept {
  return new (std::nothrow) CallsSink;
}

}  // namespace jitquill
