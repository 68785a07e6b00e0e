// The agent's part that takes news: numbers and stamps it, gives it to the open outputs, and keeps the code
// map.
#include "agent/base/arch_clock.hpp"
#include "agent/base/careful_bytes.hpp"
#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/life/agent.hpp"

namespace jitquill {

std::uint64_t Agent::now() const noexcept {
  return options_.arch_clock ? arch_clock::ticks() : monotonic_ns();
}

void Agent::sign(CodeLoad& load) noexcept {
  load.index = ++last_index_;
  load.when_ns = load.since_ns == 0 || options_.arch_clock ? now() : load.since_ns;
  load.since_ns = 0;  // once: announced again, it is signed anew
  load.tid = current_tid();
}

Status Agent::load(CodeLoad& load) noexcept {
  load.id = ++last_id_;
  sign(load);
  return place_load(load);
}

Status Agent::place_load(CodeLoad& load) noexcept {
  if (phase_ == Phase::kDormant) {
    if (const Status woken = wake(); !is_done(woken) && !sinks_.any()) return woken;
  }
  if (phase_ == Phase::kStopped) return Status::kStopped;
  if (!sinks_.any()) return Status::kOff;
  prepare(load);
  CarefulBytes careful;
  if (load.may_fault && !careful.read(load)) return out_of_memory();
  const std::uint64_t hash = load.is_overheard ? hash_of(load.bytes) : 0;
  if (load.is_overheard && load.moved_from == 0 && is_known(load, hash)) return Status::kOk;
  if (load.index <= last_index_again_) sign(load);  // the file has later stamps already

  Written written;
  Status status = sinks_.load(load, written, log_);
  if (sinks_.met_limit()) status = load_in_next_folder(load, written);
  notice_lost_sinks();
  count_load(load, status, written);
  const bool is_known_now = add_to_map(load, written, hash, status);
  coverage_.loaded(code_map_);
  return is_known_now || !is_done(status) ? status : out_of_memory();
}

void Agent::load_all(std::span<CodeLoad> loads, std::span<Status> told) noexcept {
  std::size_t next = 0;
  // The first may have to open what they go to; and the last function of a folder with a limit is found one
  // by one.
  const auto is_single = [this] { return phase_ != Phase::kAwake || options_.max_bytes != 0; };
  for (; next < loads.size() && is_single(); ++next) told[next] = load(loads[next]);
  for (; next < loads.size(); next += kMostAtOnce) {
    const std::size_t count = std::min(kMostAtOnce, loads.size() - next);
    load_as_one(loads.subspan(next, count), told.subspan(next, count));
  }
}

void Agent::load_as_one(std::span<CodeLoad> loads, std::span<Status> told) noexcept {
  sinks_.hold();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    CodeLoad& load = loads[i];
    load.id = ++last_id_;
    sign(load);
    prepare(load);
    Outcome& outcome = outcomes_[i] = {};
    outcome.hash = load.is_overheard ? hash_of(load.bytes) : 0;
    outcome.is_known = load.is_overheard && is_known(load, outcome.hash);
    told[i] = outcome.is_known ? Status::kOk : sinks_.load(load, outcome.written, log_);
  }
  const bool is_written = sinks_.release();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    auto& [written, hash, is_known] = outcomes_[i];
    if (is_known) continue;
    if (!is_written) told[i] = sinks_.load(loads[i], written = {}, log_, OpenSinks::Reach::kOwing);
    count_load(loads[i], told[i], written);
    if (!add_to_map(loads[i], written, hash, told[i]) && is_done(told[i])) told[i] = out_of_memory();
    coverage_.loaded(code_map_);
  }
  notice_lost_sinks();
}

// What the options say about it, and what the code map knows.
void Agent::prepare(CodeLoad& load) noexcept {
  load.pid = pid_;
  if (options_.unwind == UnwindMode::kOff) load.unwinding = {};
  load.room = code_map_.free_room(load.address, load.bytes.size(), load.room);
  load.twins = options_.unwind == UnwindMode::kTwin ? &code_map_.twins() : nullptr;
  if (!options_.inlining) load.inlining = {};
}

// The same code, told again by the same or another intake, with nothing new about it; or told by its runtime
// itself, whose word counts.
bool Agent::is_known(const CodeLoad& load, std::uint64_t hash) noexcept {
  const LiveCode* live = code_map_.find(load.address);
  if (load.is_stopgap) return code_map_.bytes_in(load.address, load.address + load.bytes.size()) != 0;
  const bool is_same = live != nullptr && !live->is_stopgap && live->size == load.bytes.size() &&
                       live->hash == hash && (load.lines.empty() || live->has_lines) &&
                       (load.inlining.rows.empty() || live->has_inlining) &&
                       (!load.unwinding.has_rows() || live->has_unwinding);
  if (!is_same && !code_map_.has_told(load.address, load.bytes.size())) return false;
  count(Counter::duplicates_merged);
  return true;
}

Status Agent::out_of_memory() noexcept {
  count(Counter::news_out_of_memory);
  return Status::kNoMemory;
}

// The last output may go with any news.
void Agent::notice_lost_sinks() noexcept {
  if (phase_ != Phase::kAwake || sinks_.any()) return;
  set_phase(Phase::kOff);
  switch_sites();
}

bool Agent::add_to_map(const CodeLoad& load, const Written& written, std::uint64_t hash,
                       Status& status) noexcept {
  const bool is_wanted_again = load.may_move || options_.reannounce || options_.max_bytes != 0;
  sites::SiteList* const sites = take_sites(load, status);
  const auto added = code_map_.add(load,
                                   {.id = load.id,
                                    .index = load.index,
                                    .hash = hash,
                                    .twin_address = written.twin_address,
                                    .sites = sites,
                                    .size = static_cast<std::uint32_t>(load.bytes.size()),
                                    .tail = written.tail_size,
                                    .twin_size = static_cast<std::uint32_t>(written.twin_size),
                                    .has_lines = !load.lines.empty(),
                                    .has_inlining = !load.inlining.rows.empty(),
                                    .has_unwinding = load.unwinding.has_rows(),
                                    .is_stopgap = load.is_stopgap},
                                   is_wanted_again);
  count_as_owner(Counter::functions_replaced, added.replaced);
  count(Counter::unwinding_tails_overwritten, added.tails_overwritten);
  if (sites != nullptr && added.has_memory) sites->turn_new(is_traced(load.name));
  return added.has_memory;
}

void Agent::count_load(const CodeLoad& load, Status status, const Written& written) noexcept {
  count_as_owner(is_done(status) ? Counter::functions_loaded : Counter::functions_lost);
  count_as_owner(Counter::bytes_written, written.bytes);
  if (written.unwinding_left_out) count(Counter::unwinding_refused);
  if (written.lines_left_out) count(Counter::lines_refused);
  if (written.unwinding_without_room) count(Counter::unwinding_without_room);
  if (written.name_changed) count(Counter::names_changed);
  if (written.duplicate_unsalted) count(Counter::duplicates_unsalted);
  if (written.twin_address != 0) count(Counter::unwinding_twins);
  if (load.is_stopgap) count(Counter::frames_nameless);
  if (load.unwinding.has_rows() && is_done(status) && !written.unwinding_left_out)
    count_as_owner(Counter::unwinding_written);
  if (status != Status::kOk) log_.say_once(status, load.name);
}

Status Agent::unload(CodeUnload& unload) noexcept {
  const LiveCode* live = code_map_.find(unload.address);
  if (live == nullptr || (unload.is_overheard && live->is_told())) {
    count(Counter::unloads_unknown);
    return Status::kNotFound;
  }
  count(Counter::functions_unloaded);
  unload.id = live->id;
  unload.size = live->size;
  unload.when_ns = now();
  coverage_.unloads(code_map_);
  (void)code_map_.remove(unload.address);
  const Status status = sinks_.any() ? sinks_.unload(unload, log_) : Status::kOk;
  notice_lost_sinks();
  return status;
}

std::uint64_t Agent::size_to_move(std::uint64_t from) const noexcept {
  const LiveCode* live = code_map_.find(from);
  const bool is_read = live != nullptr && live->kept != nullptr && !live->kept->load().may_fault;
  return is_read ? live->size : 0;
}

// A copy is announced at the new place, under the same id; or, if the user prefers small files, only the
// move.
Status Agent::move(CodeMove& move) noexcept {
  const LiveCode* live = code_map_.find(move.from);
  if (live == nullptr || live->kept == nullptr || (move.is_overheard && live->is_told())) {
    count(Counter::unloads_unknown);
    return Status::kNotFound;
  }
  if (phase_ == Phase::kStopped) return Status::kStopped;
  if (move.to + live->size < move.to) return Status::kBadArgument;
  count(Counter::functions_moved);
  CodeLoad load = live->kept->load();
  load.id = live->id;
  load.index = live->index;
  load.address = move.to;
  load.moved_from = move.from;
  load.may_fault = load.may_fault || !live->is_told();  // nobody vouches for what was overheard
  load.room = move.room;
  load.writable = move.writable;
  load.bytes = {reinterpret_cast<const std::uint8_t*>(move.to), live->size};
  const LiveCode before = *live;
  KeptCode* const kept = code_map_.take(move.from);  // what `load` points into
  // Only what this process's file has can be moved in it: a child's has not what it inherited.
  const bool is_record = options_.move_records && before.index >= first_index_here_;
  const Status status = is_record ? record_move(move, load, before) : reload(load);
  KeptCode::forget(kept);
  return status;
}

Status Agent::reload(CodeLoad& load) noexcept {
  sign(load);
  return place_load(load);
}

Status Agent::record_move(CodeMove& move, CodeLoad& load, const LiveCode& before) noexcept {
  sign(load);
  load.pid = pid_;
  move = {.id = load.id,
          .index = before.index,
          .when_ns = load.when_ns,
          .from = move.from,
          .to = move.to,
          .size = before.size,
          .name = load.name,
          .pid = pid_,
          .tid = load.tid,
          .unwinding = load.unwinding,
          .room = code_map_.free_room(move.to, before.size, move.room)};
  load.index = before.index;
  if (options_.unwind == UnwindMode::kOff) move.unwinding = {};
  Written written;
  Status status = sinks_.any() ? sinks_.move(move, written, log_) : Status::kOff;
  if (sinks_.any() && sinks_.met_limit()) {  // a new folder does not know what would be moved
    if (const Status opened = open_next_folder(); !is_done(opened)) {
      count(Counter::functions_lost);
      return opened;
    }
    limit_folder();
    return reload(load);
  }
  notice_lost_sinks();
  count_as_owner(Counter::bytes_written, written.bytes);
  if (written.unwinding_without_room) count(Counter::unwinding_without_room);
  if (written.unwinding_left_out) count(Counter::unwinding_refused);
  return add_to_map(load, written, before.hash, status) || !is_done(status) ? status : out_of_memory();
}

void Agent::write_queued(ReentryQueue::Entry& entry) noexcept {
  using Kind = ReentryQueue::Entry::Kind;
  if (entry.kind == Kind::kLoad) (void)place_load(entry.load);
  if (entry.kind == Kind::kUnload) (void)unload(entry.unload);
  if (entry.kind == Kind::kMove) (void)move(entry.move);
}

Status Agent::queue_load(CodeLoad& load) noexcept {
  load.id = ++last_id_;
  sign(load);
  if (!queue_.push(load)) return out_of_memory();
  count(Counter::functions_queued);
  return Status::kQueued;
}

Status Agent::queue_unload(CodeUnload& unload) noexcept {
  return queue_.push(unload) ? Status::kQueued : out_of_memory();
}

Status Agent::queue_move(CodeMove& move) noexcept {
  return queue_.push(move) ? Status::kQueued : out_of_memory();
}

}  // namespace jitquill
