#include "writer/openj9/sink.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "writer/bytes/decimal.hpp"
#include "writer/openj9/calendar.hpp"
#include "writer/openj9/dat.hpp"
#include "writer/openj9/text.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::string_view kComponents[] = {"jq", "jqm"};
constexpr std::uint32_t kMostThreads = std::uint32_t{1} << 26;  // a number beyond is damage, not a program

// How a frame ended, by FrameEnd.
constexpr Point kEnds[] = {Point::kReturned, Point::kReturned, Point::kTailCalled, Point::kUnwound,
                           Point::kEnded,    Point::kExited,   Point::kOpen};

// A newline in one would be another's line.
void put_lines(Bytes& out, std::string_view texts) noexcept {
  constexpr std::size_t kMost = 0xFFFF;  // of all
  const std::size_t most = out.size() + kMost;
  while (!texts.empty()) {
    const std::size_t size = std::min(texts.find('\0'), texts.size());
    const std::string_view line(texts.data(), size);
    if (out.size() + 1 >= most) return;
    (void)put_text(out, line, most - out.size() - 1);
    out.u8(0);
    const std::size_t whole = std::min(size + 1, texts.size());
    texts = {texts.data() + whole, texts.size() - whole};
  }
}

std::string_view view_of(const Bytes& bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.view().data()), bytes.size()};
}

}  // namespace

Openj9Sink::~Openj9Sink() {
  for (ThreadTrace* const trace : threads_.all()) delete trace;
}

void Openj9Sink::choose(const std::array<std::uint8_t, 2>& levels) noexcept {
  levels_ = levels;
  for (std::size_t i = 0; i < kPointRows.size(); ++i) {
    const auto component = std::ranges::find(kComponents, kPointRows[i].component) - std::begin(kComponents);
    wanted_[i] = kPointRows[i].level < levels_[static_cast<std::size_t>(component)];
  }
  // Nobody asks for losses, and all must see them.
  wanted_[static_cast<std::size_t>(Point::kLost)] = true;
  wanted_[static_cast<std::size_t>(Point::kUntold)] = true;
}

void Openj9Sink::set(const RunSettings& settings) noexcept {
  selection_ = settings.openj9_select;
  type_ = settings.openj9_internal ? Type::kInternal : Type::kExternal;
  taker_ = settings.openj9_taker;
  std::array<std::uint8_t, 2> levels{};
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<std::uint8_t>(selection_.level_of(kComponents[i]) + 1);
  choose(levels);
}

void Openj9Sink::put_side_file(Bytes& out) const noexcept {
  put_dat(out);
}

bool Openj9Sink::open_process() noexcept {
  if (!has_process_) has_process_ = process_.open(type_, clock_, {0, 0, kExceptionName});
  return has_process_;
}

Status Openj9Sink::begin(const Origin& origin, Bytes& out) noexcept {
  constexpr std::uint64_t kSomeTime = 1'000'000'000'000'000'000;  // none is not read
  clock_ = Clock::at(origin.start_ns, origin.unix_ns != 0 ? origin.unix_ns : kSomeTime);
  pid_ = origin.pid;
  Bytes service, startup, active;
  service.raw(std::string_view("jitquill, process ")).raw(Decimal(origin.pid).view());
  active.raw(std::string_view("openj9.type="));
  active.raw(std::string_view(type_ == Type::kExternal ? "external" : "internal")).u8(0);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    active.raw(kComponents[i]).u8('=');
    levels_[i] == 0 ? active.raw(std::string_view("off")) : active.raw(Decimal(levels_[i] - 1U).view());
    active.u8(0);
  }
  put_lines(active, origin.options);
  put_lines(startup, origin.arguments);
  Header header;
  header.record_size = ThreadTrace::kRecordSize;
  header.clock = clock_;
  header.type = type_;
  header.service = view_of(service);
  header.startup = view_of(startup);
  header.active = view_of(active);
  if (origin.processors != 0) header.processors = origin.processors;
  const std::size_t before = out.size();
  const Status status = put_header<kHost>(header, out);
  if (status != Status::kOk || !open_process()) return status != Status::kOk ? status : Status::kNoMemory;
  header_.clear();
  header_.raw(out.view().subspan(before));
  if (taker_ != nullptr) taker_->begin(header_.view());
  put_date(clock_.start_ticks, out);
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

bool Openj9Sink::keep_name(FunctionNumber number, std::string_view name) noexcept {
  const std::size_t at = name_bytes_.size();
  const EntryHead<kHost>& head = head_of<kHost>(Point::kEnter);
  const Status status =
      put_parameters<kHost, Point::kEnter>(ThreadTrace::most_parameters(type_, head), name_bytes_, name);
  if (status == Status::kTextCut) ++losses_.texts_cut;
  if (name_bytes_.failed() || !names_.grow_to(number + std::size_t{1}, Name{})) return false;
  names_[number] = {at, static_cast<std::uint32_t>(name_bytes_.size() - at)};
  return true;
}

std::span<const std::uint8_t> Openj9Sink::name_of(FunctionNumber number) const noexcept {
  static constexpr std::uint8_t kUnknown[] = {kHost.order == std::endian::little,
                                              kHost.order == std::endian::big, '?'};
  if (number >= names_.size() || names_[number].size == 0) return kUnknown;
  return name_bytes_.view().subspan(names_[number].at, names_[number].size);
}

Status Openj9Sink::define(const FunctionInfo& function, Bytes&) noexcept {
  if (function.number < names_.size() && names_[function.number].size != 0) return Status::kOk;  // again
  FunctionInfo known = function;
  known.file = {};
  return texts_.define(known) && keep_name(known.number, texts_.name(known.number)) ? Status::kOk
                                                                                    : Status::kNoMemory;
}

void Openj9Sink::put_date(std::uint64_t ticks, Bytes& out) noexcept {
  const std::uint64_t ms = clock_.ms_of(ticks);
  day_ = ms / kMsPerDay;
  const DateText date(day_);
  put<Point::kDate>(of_process(ticks, out), ticks, date.view(), pid_);
}

// What is put there next is of no thread.
Openj9Sink::Here Openj9Sink::of_process(std::uint64_t ticks, Bytes& out) noexcept {
  if (std::exchange(is_process_of_thread_, false)) put_context(0, ticks, out);
  return {process_, out};
}

// For what must be there when a thread's ring has gone round. Whose it is stands in front of each, since the
// exception buffer goes round too.
Openj9Sink::Here Openj9Sink::to_last(const Here& here, std::uint64_t ticks) noexcept {
  if (type_ == Type::kExternal) return here;
  put_context(here.trace.key(), ticks, here.out);
  is_process_of_thread_ = true;
  return {process_, here.out};
}

void Openj9Sink::put_context(std::uint64_t thread, std::uint64_t ticks, Bytes& out) noexcept {
  static constexpr auto kContext = EntryHead<kHost>::internal(kContextNumber);
  std::uint8_t key[kHost.pointer_size];
  (void)Fields<kHost>(key).pointer(thread);
  (void)process_.put(ticks, kContext, key, out);
}

Status Openj9Sink::code(const CodeNews& news, Bytes& out) noexcept {
  const std::size_t before = handed_ = out.size();
  const std::uint64_t ticks = ticks_of(news.when_ns);
  const Here here = of_process(ticks, out);
  if (news.kind == CodeNews::Kind::kMove)
    put<Point::kCodeMove>(here, ticks, news.address, news.size, news.code_id);
  if (news.kind == CodeNews::Kind::kUnload)
    put<Point::kCodeUnload>(here, ticks, news.address, news.size, news.code_id);
  if (news.kind == CodeNews::Kind::kLoad && news.file.empty())
    put<Point::kCodeLoad>(here, ticks, news.address, news.size, news.code_id, news.name);
  if (news.kind == CodeNews::Kind::kLoad && !news.file.empty())
    put<Point::kCodeLine>(here, ticks, news.address, news.size, news.code_id, news.name, news.file,
                          news.line);
  return close_batch(here, before);
}

// A thread's number makes its key its own, for the kernel uses tids again.
ThreadTrace* Openj9Sink::trace_of(const RunThread& thread) noexcept {
  if (thread.number >= kMostThreads || !threads_.grow_to(thread.number + std::size_t{1}, nullptr))
    return nullptr;
  ThreadTrace*& trace = threads_[thread.number];
  if (trace != nullptr) return trace;
  trace = new (std::nothrow) ThreadTrace;
  const ThreadId id{std::uint64_t{thread.number} << 32 | thread.tid, thread.tid, thread.name};
  if (trace != nullptr && trace->open(type_, clock_, id)) return trace;
  delete trace;
  trace = nullptr;
  return nullptr;
}

void Openj9Sink::put_named(const Here& here, Point point, const RunEvent& event) noexcept {
  if (wants(point))
    (void)here.trace.put(ticks_of(event.when_ns), head_of<kHost>(point), name_of(event.function), here.out);
}

// Told twice: in front of the record, for readers of records, and as an event. Lane records are smaller than
// entries, so the number of records is a guess, of at least one.
void Openj9Sink::put_lost(const Here& here, const RunEvent& event) noexcept {
  constexpr std::uint64_t kUsualEntry = 32;  // bytes
  const std::uint64_t records = event.amount / (ThreadTrace::kRecordSize / kUsualEntry) + 1;
  (void)here.trace.lose(static_cast<std::uint32_t>(std::min<std::uint64_t>(records, 1U << 30)), here.out);
  if (taker_ != nullptr) {
    hand_over(here.out);
    taker_->lose(here.trace.key(), records * ThreadTrace::kRecordSize);
  }
  const TimeText since(clock_, ticks_of(event.since_ns));
  const std::uint64_t ticks = ticks_of(event.when_ns);
  put<Point::kLost>(here, ticks, event.amount, since.view());
  if (type_ == Type::kInternal) put<Point::kLost>(to_last(here, ticks), ticks, event.amount, since.view());
}

void Openj9Sink::put_callers(const Here& here, const RunEvent& event, const Batch& batch) noexcept {
  if (!wants(Point::kCaller) || event.amount >= batch.stacks.size()) return;
  for (const FunctionNumber caller : batch.stacks[event.amount].callers)
    (void)here.trace.put(ticks_of(event.when_ns), head_of<kHost>(Point::kCaller), name_of(caller), here.out);
}

void Openj9Sink::put_thread(const Here& here, const RunEvent& event, const RunThread& thread) noexcept {
  const std::uint64_t ticks = ticks_of(event.when_ns);
  if (event.kind == RunEventKind::kThreadBegin)
    return put<Point::kThreadBegin>(here, ticks, thread.name, thread.tid);
  put<Point::kThreadEnd>(here, ticks, thread.name, thread.tid);
  static constexpr auto kEnd = EntryHead<kHost>::internal(kThreadEndNumber);
  (void)here.trace.put(ticks, kEnd, {}, here.out);
  (void)here.trace.close(here.out);
}

void Openj9Sink::put_event(const Here& here, const RunEvent& event, const Batch& batch) noexcept {
  switch (event.kind) {
    case RunEventKind::kEnter:
      return put_named(here, Point::kEnter, event);
    case RunEventKind::kLeave:
      return put_named(here, kEnds[static_cast<std::size_t>(event.end)], event);
    case RunEventKind::kLost:
      return put_lost(here, event);
    case RunEventKind::kStack:
      return put_callers(here, event, batch);
    case RunEventKind::kPost:
      if (event.amount < batch.posts.size())
        put_post(here, ticks_of(event.when_ns), batch.posts[event.amount]);
      return;
    case RunEventKind::kThreadBegin:
    case RunEventKind::kThreadEnd:
      return put_thread(here, event, batch.thread);
  }
}

// Of the buffer what was put behind `handed_`: whole records.
void Openj9Sink::hand_over(const Bytes& out) noexcept {
  if (taker_ == nullptr) return;
  for (; handed_ < out.size(); handed_ += ThreadTrace::kRecordSize) {
    const auto record = out.view().subspan(handed_, ThreadTrace::kRecordSize);
    taker_->take(number_at<kHost>(record.data() + kThreadAt, 8), record);
  }
}

// What was closed since goes with a failure, and the record that was open.
Status Openj9Sink::close_batch(const Here& here, std::size_t before) noexcept {
  if (!here.out.failed() && !parameters_.failed()) {
    hand_over(here.out);
    return Status::kOk;
  }
  here.trace.drop(static_cast<std::uint32_t>((here.out.size() - before) / ThreadTrace::kRecordSize));
  if (taker_ != nullptr && type_ == Type::kExternal)
    taker_->lose(here.trace.key(), here.out.size() - handed_ + ThreadTrace::kRecordSize);
  parameters_.clear();
  return Status::kNoMemory;
}

Status Openj9Sink::batch(const Batch& batch, Bytes& out) noexcept {
  ThreadTrace* const trace = trace_of(batch.thread);
  if (trace == nullptr) return Status::kNoMemory;
  const std::size_t before = handed_ = out.size();
  if (!batch.thread.name.empty()) trace->rename(batch.thread.name);
  if (!batch.events.empty() && clock_.ms_of(ticks_of(batch.events[0].when_ns)) / kMsPerDay > day_)
    put_date(ticks_of(batch.events[0].when_ns), out);
  const Here here{*trace, out};
  for (const RunEvent& event : batch.events) put_event(here, event, batch);
  return close_batch(here, before);
}

// A loss is told in front of an entry, so there must be one.
void Openj9Sink::end_trace(ThreadTrace& trace, Bytes& out) noexcept {
  if (const std::uint32_t untold = trace.untold_loss(); untold != 0)
    put<Point::kUntold>({trace, out}, trace.newest_ticks(), untold);
  (void)trace.close(out);
  trace.put_ring(out);
}

Status Openj9Sink::end(std::uint64_t, Bytes& out) noexcept {
  handed_ = out.size();
  end_trace(process_, out);
  for (ThreadTrace* const trace : threads_.all()) {
    if (trace != nullptr) end_trace(*trace, out);
  }
  if (out.failed()) return Status::kNoMemory;
  hand_over(out);
  return Status::kOk;
}

// | start ticks u64, ms u64 | type u8 | levels u8, u8 | pid | day | cut | header | names | process: is of a
// thread u8, has changed u8, state | threads: {number + 1, state}, 0 |
void Openj9Sink::put_state(bool whole, Bytes& state) noexcept {
  state.u64(clock_.start_ticks).u64(clock_.start_ms).u8(static_cast<std::uint8_t>(type_));
  state.u8(levels_[0]).u8(levels_[1]).uleb128(pid_).uleb128(day_).uleb128(losses_.texts_cut);
  put_header_state(whole, state);
  whole ? texts_.put_all(state) : texts_.put_new(state);
  state.u8(is_process_of_thread_ ? 1 : 0).u8(whole || process_.is_changed() ? 1 : 0);
  if (whole || process_.is_changed()) process_.put_state(whole, state);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    ThreadTrace* const trace = threads_[i];
    if (trace == nullptr || (!whole && !trace->is_changed())) continue;
    state.uleb128(i + 1).uleb128(trace->tid());
    trace->put_state(whole, state);
  }
  state.uleb128(0);
}

bool Openj9Sink::apply_names(ByteSource& state) noexcept {
  const std::size_t had = names_.size();
  if (!texts_.apply(state)) return false;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto number = static_cast<FunctionNumber>(i);
    if (i < had && names_[i].size != 0) continue;
    if (!keep_name(number, texts_.name(number))) return false;
  }
  return true;
}

bool Openj9Sink::apply(std::span<const std::uint8_t> bytes) noexcept {
  ByteSource state(bytes);
  clock_ = {state.u64(), state.u64()};
  const std::uint8_t type = state.u8();
  const std::uint8_t jq = state.u8(), jqm = state.u8();
  pid_ = static_cast<std::uint32_t>(state.uleb128(~std::uint32_t{0}));
  day_ = state.uleb128();
  const std::uint64_t cut = state.uleb128();
  if (state.failed() || type > 1 || clock_.start_ticks == 0) return false;
  type_ = static_cast<Type>(type);
  choose({jq, jqm});
  if (!apply_header(state) || !apply_names(state) || !open_process()) return false;
  losses_.texts_cut = cut;
  is_process_of_thread_ = state.u8() != 0;
  if (state.u8() != 0 && !process_.apply(state)) return false;
  while (const std::uint64_t number = state.uleb128(kMostThreads)) {
    const auto tid = static_cast<std::uint32_t>(state.uleb128(~std::uint32_t{0}));
    ThreadTrace* const trace = trace_of({static_cast<std::uint32_t>(number - 1), tid, {}});
    if (trace == nullptr || !trace->apply(state)) return false;
  }
  return !state.failed() && state.is_at_end();
}

}  // namespace jitquill::openj9

namespace jitquill {

RunSink* make_openj9_sink() noexcept {
  return new (std::nothrow) openj9::Openj9Sink;
}

}  // namespace jitquill
