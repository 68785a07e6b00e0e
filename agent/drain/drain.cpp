#include "agent/drain/drain.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "agent/base/counters.hpp"

namespace jitquill::drain {
namespace {

constexpr std::uint64_t kCalibrateEach_ns = 1'000'000'000;
constexpr std::uint32_t kLooksToAsk = 16;  // idle ones, until the kernel is asked whether a thread is gone
constexpr std::uint32_t kJournalFailures = 3;

// None: it has no code.
std::optional<CodeNews> news_of(const lanes::CodeRecord& record) noexcept {
  CodeNews news{CodeNews::Kind::kLoad, record.id,   record.when_ns, record.address,
                record.size,           record.name, record.file,    record.line};
  switch (record.kind) {
    case lanes::CodeRecordKind::kLoad:
      return news;
    case lanes::CodeRecordKind::kMove:
      news.kind = CodeNews::Kind::kMove;
      return news;
    case lanes::CodeRecordKind::kUnload:
      news.kind = CodeNews::Kind::kUnload;
      return news;
    case lanes::CodeRecordKind::kFunction:
      break;
  }
  return std::nullopt;
}

}  // namespace

Drain::~Drain() {
  for (LaneDrain* lane : lanes_.all()) delete lane;
}

bool Drain::set_up(const DrainSettings& settings) noexcept {
  settings_ = settings;
  journal_.open(settings.lane_folder, settings.lane_folder_path);
  pool_ = lanes::PoolView::over(settings.lanes->memory());
  if (!pool_) return false;
  if (settings.code_lane >= 0 && code_lane_.open(settings.code_lane)) functions_.open(&code_lane_);
  return true;
}

void Drain::close_files() noexcept {
  outputs_.close_files();
  journal_.close();
  code_lane_.close();
  samples_.close_files();
}

Status Drain::open(const DrainSettings& settings, const Now& now) noexcept {
  if (!set_up(settings)) return Status::kBadArgument;
  const Status opened = outputs_.open(settings.outputs, *settings.output, *this, settings.say);
  settings_.outputs = {};  // what it names is the caller's
  if (!outputs_.any()) return opened == Status::kOk ? Status::kOff : opened;
  latest_ns_ = now.ns;
  if (settings.is_this_process) functions_.watch_this_process();
  functions_.set_demangling(settings.demangles);
  if (outputs_.wants_modules()) {
    functions_.look_at_modules();
    define_new();
  }
  if (settings.has_native_functions) {
    functions_.expect_natives();
    functions_.look_at_modules();
  }
  functions_.tell_unwanted(settings.unwanted);
  functions_.set_patterns(settings.patterns);
  functions_.want_stacks(settings.stacks);
  load_calibrations();
  calibrate(now);
  pass_over(now);
  outputs_.append();
  if (!write_journal(nullptr)) return Status::kNoOutput;
  pool_->header().is_ended.store(0, std::memory_order_release);
  for (LaneDrain* lane : lanes_.all()) {
    if (lane != nullptr) free(*lane);
  }
  return Status::kOk;  // what could not be opened was said
}

// The lanes of a process that stopped and starts again have what was in the output before, or came between.
void Drain::pass_over(const Now& now) noexcept {
  for (std::uint32_t i = 0; i < pool_->lane_count(); ++i) (void)lane_of(i);
  look_for_chunks();
  for (LaneDrain* lane : lanes_.all()) {
    if (lane == nullptr) continue;
    const bool is_gone = settings_.lanes->is_thread_gone(lane->row());
    lane->pass_over(*settings_.lanes, row(lane->row()), is_gone, now.ticks);
  }
}

Status Drain::resume(const DrainSettings& settings) noexcept {
  if (!set_up(settings)) return Status::kBadArgument;
  load_calibrations();
  if (settings.later.ticks != 0) (void)clock_.add(settings.later.ticks, settings.later.ns);
  functions_.read_news();
  const bool has_state =
      journal_.fold([&](bool, std::span<const std::uint8_t> state) { return apply_state(state); });
  if (!has_state) return Status::kNotFound;
  needs_whole_ = false;
  return outputs_.resume(*settings.output, *this, settings.say) ? Status::kOk : Status::kNoOutput;
}

// Two pairs that lie near each other tell little of the rate: until a second is between them, the later one
// moves on.
void Drain::calibrate(const Now& now) noexcept {
  pool_->header().last_look_ticks.store(now.ticks, std::memory_order_relaxed);
  if (clock_.pairs() == 2 && now.ns - clock_.first_ns() < kCalibrateEach_ns) {
    if (clock_.move_last(now.ticks, now.ns)) lanes::replace_last_calibration(pool_->header(), now);
    return;
  }
  if (clock_.pairs() >= 2 && now.ns - clock_.last_ns() < kCalibrateEach_ns) return;
  if (clock_.add(now.ticks, now.ns)) lanes::add_calibration(pool_->header(), now);
}

void Drain::load_calibrations() noexcept {
  GrowingArray<Now> pairs;
  for (const lanes::Calibration& pair : pool_->header().calibrations) {
    if (pair.ticks != 0) (void)pairs.push({pair.ticks, pair.ns});
  }
  std::ranges::sort(pairs.all(), {}, &Now::ticks);
  for (const Now& pair : pairs.all()) (void)clock_.add(pair.ticks, pair.ns);
}

LaneDrain* Drain::find_or_make(std::uint32_t index, std::uint32_t thread) noexcept {
  if (index >= lanes::kMostLanes || !lanes_.grow_to(index + std::size_t{1}, nullptr)) return nullptr;
  LaneDrain*& lane = lanes_[index];
  if (lane != nullptr && lane->thread() != thread) {
    delete lane;  // its thread has ended, and the row is another's
    lane = nullptr;
  }
  if (lane == nullptr) lane = new (std::nothrow) LaneDrain(index, thread);
  return lane;
}

LaneDrain* Drain::lane_of(std::uint32_t index) noexcept {
  if (row(index).state.load(std::memory_order_acquire) == lanes::LaneState::kFree) return nullptr;
  return find_or_make(index, row(index).number);
}

// All chunks are looked at together, and only if a thread has got one: their number has no bound but memory.
void Drain::look_for_chunks() noexcept {
  for (std::uint32_t i = 0; i < pool_->lane_count() && i < lanes_.size(); ++i) {
    if (lanes_[i] != nullptr) lanes_[i]->seek_chunks(row(i));
  }
  pool_->for_each_chunk([&](const lanes::PoolView::Chunk& chunk) {
    const lanes::ChunkHeader& header = *chunk.header;
    const bool is_used = header.state.load(std::memory_order_acquire) == lanes::ChunkState::kUsed;
    const bool is_known = header.lane < lanes_.size() && lanes_[header.lane] != nullptr;
    if (is_used && is_known) (void)lanes_[header.lane]->offer(chunk.offset, header);
  });
}

Pass Drain::pass(const Now& now) noexcept {
  calibrate(now);
  Pass pass = look_at_all({now.ticks, now.ns, false});
  pass.samples = samples_.look();
  if (pass.samples != 0) commit_all();
  return pass;
}

// Once: what was refused is refused for good.
void Drain::start_sampling() noexcept {
  const sampler::Wish wish = std::exchange(settings_.sampling, {});
  if (wish.hz == 0) return;
  if (outputs_.wants_samples()) return (void)samples_.start(wish, settings_.say, settings_.return_address);
  settings_.say(kNobodyShowsSamples);
}

void Drain::take_samples(const SampleBatch& batch) noexcept {
  define_new();
  outputs_.samples(batch);
}

Pass Drain::look_at_all(const Look& look) noexcept {
  Pass pass;
  call_stacks_.begin();
  bool misses = false;
  const std::uint32_t count = pool_->lane_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const LaneDrain* const lane = lane_of(i);
    if (lane != nullptr && lane->misses_chunk(row(i))) misses = true;
  }
  if (misses) look_for_chunks();
  for (std::uint32_t i = 0; i < count; ++i) {
    LaneDrain* const lane = i < lanes_.size() ? lanes_[i] : nullptr;
    const bool is_there =
        lane != nullptr && row(i).state.load(std::memory_order_acquire) != lanes::LaneState::kFree;
    if (is_there && drain_lane(*lane, look, pass)) pass.has_more = true;
  }
  commit_code();
  return pass;
}

// To sinks that want it, before what they are told next: all that functions know of, so that both are as of
// the same news when another file begins.
void Drain::tell_code() noexcept {
  if (!outputs_.wants_code()) return;
  lanes::CodeRecord record;
  const std::uint64_t end = code_lane_.read_to();
  while (told_code_at_ < end &&
         code_lane_.next_from(told_code_at_, record) == lanes::CodeLaneReader::Next::kRecord) {
    if (const auto news = news_of(record)) outputs_.code(*news);
  }
}

// That no thread has run since.
void Drain::commit_code() noexcept {
  functions_.read_news();
  tell_code();
  outputs_.serve_streams();
  if (outputs_.has_bytes()) commit_all();
}

void Drain::commit_all() noexcept {
  outputs_.append();
  outputs_.go_on_if_full();
  if (write_journal(nullptr)) outputs_.remove_old_files();
}

bool Drain::drain_lane(LaneDrain& lane, const Look& look, Pass& pass) noexcept {
  if (lane.is_ended()) {
    if (row(lane.row()).number == lane.thread()) free(lane);  // killed before its row was given back
    return false;
  }
  // Asked first: what it wrote before it went is there then.
  const bool is_gone =
      row(lane.row()).state.load(std::memory_order_acquire) == lanes::LaneState::kDead ||
      (lane.idle_looks() % kLooksToAsk == kLooksToAsk - 1 && settings_.lanes->is_thread_gone(lane.row()));
  Look at_it = look;
  at_it.is_last |= is_gone;
  const Told before(lane.pairing());
  std::uint64_t records = 0;
  bool has_more = true;
  while (has_more && records < LaneDrain::kMostTaken) {
    if (!reader_.begin(LaneDrain::kAtOnce, lane.last_ticks())) return false;
    has_more = take_once(lane, at_it, records);
  }
  if (is_gone && !has_more && !lane.misses_chunk(row(lane.row())))
    lane.end(FrameEnd::kThreadEnd, lane.pairing().last_ns(), row(lane.row()), around_);
  events_.flush();
  pass.records += records;
  count_news(records, before, lane.pairing());
  latest_ns_ = std::max(latest_ns_, lane.pairing().last_ns());
  if (lane.has_changed() && commit(lane)) free(lane);
  return has_more;
}

// What a cache holds: it is read, paired and encoded while it is there.
bool Drain::take_once(LaneDrain& lane, const Look& look, std::uint64_t& records) noexcept {
  const bool has_more = lane.take(*settings_.lanes, look, reader_, around_);
  const auto taken = reader_.sorted();
  thread_ = lane.run_thread();
  if (taken.empty()) return has_more;
  functions_.read_news();
  lane.pairing().take(taken, reader_, around_);
  events_.flush();
  records += taken.size();
  return has_more;
}

void Drain::free(LaneDrain& lane) noexcept {
  lane.free_chunks(*settings_.lanes);
  if (lane.is_ended() && row(lane.row()).number == lane.thread()) settings_.lanes->free_row(lane.row());
}

void Drain::count_news(std::uint64_t records, const Told& before, const Pairing& pairing) noexcept {
  count(Counter::run_records, records);
  count(Counter::run_calls, pairing.calls() - before.calls);
  count(Counter::run_ends_unpaired, pairing.unpaired() - before.unpaired);
  count(Counter::run_entries_unrecorded, pairing.unrecorded() - before.unrecorded);
  count(Counter::run_records_lost, reader_.lost() - counted_[0]);
  count(Counter::run_records_broken, reader_.broken() - counted_[1]);
  count(Counter::run_functions_nameless, functions_.nameless() - counted_[2]);
  counted_[0] = reader_.lost();
  counted_[1] = reader_.broken();
  counted_[2] = functions_.nameless();
}

void Drain::define_new() noexcept {
  tell_code();
  if (outputs_.wants_modules())
    functions_.tell_modules([&](const ModuleNews& news) { outputs_.module(news); });
  functions_.define_new([&](const FunctionInfo& function) { outputs_.define(function); });
}

void Drain::take_batch(std::span<const RunEvent> events, std::span<const Post> posts,
                       std::span<const CallStack> stacks) noexcept {
  define_new();
  count(Counter::run_stacks, stacks.size());
  count(Counter::run_stacks_partial,
        static_cast<std::uint64_t>(std::ranges::count(stacks, true, &CallStack::is_partial)));
  outputs_.batch({thread_, events, posts, stacks});
}

void Drain::define_again(const Mark& since, RunSink& sink, Bytes& out) noexcept {
  functions_.define_again(since.functions,
                          [&](const FunctionInfo& function) { (void)sink.define(function, out); });
  if (!sink.wants_code()) return;
  functions_.tell_live_code(since.code_at, told_code_at_, [&](const lanes::CodeRecord& record) {
    if (const auto news = news_of(record)) (void)sink.code(*news, out);
  });
}

bool Drain::commit(LaneDrain& lane) noexcept {
  outputs_.append();
  const bool is_written = write_journal(&lane);
  if (is_written) outputs_.remove_old_files();
  return is_written;
}

// After a failure what changed is not known any more: a whole state is. Until it is written no chunk is given
// back, at most three times: then nothing can be recovered, and the trace goes on.
bool Drain::write_journal(LaneDrain* changed) noexcept {
  if (journal_failures_ >= kJournalFailures) return true;
  const bool is_whole = needs_whole_ || journal_.is_too_long();
  state_.clear();
  put_state(is_whole, changed, state_);
  const Status status = state_.failed() ? Status::kNoMemory
                        : is_whole      ? journal_.replace(state_.view())
                                        : journal_.append(state_.view());
  state_.clear();
  needs_whole_ = status != Status::kOk;
  if (!needs_whole_) return true;
  if (++journal_failures_ == kJournalFailures && settings_.say != nullptr)
    settings_.say(
        "the journal of the lanes cannot be written: what runs now could not be recovered after a kill");
  return journal_failures_ >= kJournalFailures;
}

// | latest_ns u64 | is finished u8 | code told u64 | outputs | functions | lanes: count, {...} |
void Drain::put_state(bool whole, LaneDrain* changed, Bytes& state) noexcept {
  state.u64(latest_ns_).u8(is_finished_ ? 1 : 0).u64(told_code_at_);
  outputs_.put(whole, state);
  whole ? functions_.put_all(state) : functions_.put_new(state);
  const auto all = lanes_.all();
  const auto is_put = [&](const LaneDrain* lane) {
    return lane != nullptr && (whole || is_finished_ || lane == changed);
  };
  state.uleb128(static_cast<std::uint64_t>(std::ranges::count_if(all, is_put)));
  for (LaneDrain* lane : all) {
    if (is_put(lane)) lane->put(whole, state);
  }
}

bool Drain::apply_state(std::span<const std::uint8_t> bytes) noexcept {
  ByteSource state(bytes);
  latest_ns_ = state.u64();
  is_finished_ = state.u8() != 0;
  told_code_at_ = state.u64();
  if (!outputs_.apply(state) || !functions_.apply(state)) return false;
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const auto index = static_cast<std::uint32_t>(state.uleb128(lanes::kMostLanes - 1));
    const auto thread = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
    LaneDrain* const lane = state.failed() ? nullptr : find_or_make(index, thread);
    if (lane == nullptr || !lane->apply(state)) return false;
  }
  return !state.failed() && state.is_at_end();
}

Status Drain::finish(FrameEnd how, const Now& now) noexcept {
  if (is_finished_) return Status::kOk;
  const Look look{now.ticks, now.ns, true};
  while (look_at_all(look).has_more) {
  }
  samples_.finish();
  for (LaneDrain* lane : lanes_.all()) {
    if (lane == nullptr || lane->is_ended()) continue;
    thread_ = lane->run_thread();
    const bool is_gone = settings_.lanes->is_thread_gone(lane->row());  // since the last look
    const std::uint64_t end_ns = is_gone                  ? lane->pairing().last_ns()
                                 : how == FrameEnd::kOpen ? now.ns
                                                          : latest_ns_;
    lane->end(is_gone ? FrameEnd::kThreadEnd : how, end_ns, row(lane->row()), around_);
    events_.flush();
    latest_ns_ = std::max(latest_ns_, lane->pairing().last_ns());
  }
  define_new();
  outputs_.end(latest_ns_);
  outputs_.append();
  outputs_.end_streams();
  is_finished_ = true;
  const bool is_written = write_journal(nullptr);
  if (is_written) outputs_.remove_old_files();
  pool_->header().is_ended.store(1, std::memory_order_release);
  return is_written ? Status::kOk : Status::kWriteFailed;
}

}  // namespace jitquill::drain
