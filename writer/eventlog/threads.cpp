#include "writer/eventlog/threads.hpp"

#include <algorithm>

namespace jitquill::eventlog {

bool Threads::index(Index at) noexcept {
  const Row& row = rows_[at];
  if (!by_number_.put(row.number, at)) return false;
  if (row.told == 0) return true;
  ++told_;
  return by_told_.put(row.told - 1, at);
}

Threads::Index Threads::add(std::uint64_t told, std::uint64_t wish) noexcept {
  const auto index = static_cast<Index>(rows_.size());
  auto number = static_cast<std::uint32_t>(wish);
  while (by_number_.find(number) != kNone) number = next_++;
  Row* const row = rows_.change(index);
  if (row == nullptr) return kNone;
  row->told = told;
  row->number = number;
  return this->index(index) ? index : kNone;
}

Threads::Index Threads::of_runtime(std::uint64_t told) noexcept {
  told = std::min(told, kNever - 1);
  const Index found = by_told_.find(told);
  return found != kNone ? found : add(told + 1, told);
}

// As tools count them: from 1.
Threads::Index Threads::of_system(std::uint32_t runner) noexcept {
  return add(0, runner + std::uint64_t{1});
}

// What another told first stands in front of it in the file: so of equal times too.
bool Threads::create(Index index, std::uint16_t capability, std::uint64_t& when_ns) noexcept {
  const Row& row = rows_[index];
  if (row.created_ns != kNever || (row.first_ns != kNever && row.first_ns + kSlack_ns < when_ns))
    return false;
  if (row.first_ns <= when_ns) when_ns = time_before(row.first_ns);
  if (Row* const changed = rows_.change(index)) {
    changed->created_ns = when_ns;
    if (changed->first_ns == kNever) changed->first_capability = capability;
  }
  return true;
}

void Threads::note_creation(Index index) noexcept {
  if (Row* const row = rows_.change(index)) row->created_ns = time_before(row->first_ns);
}

void Threads::note_first(Row& row, std::uint16_t capability, std::uint64_t when_ns) noexcept {
  if (when_ns >= row.first_ns) return;
  row.first_ns = when_ns;
  row.first_capability = capability;
}

bool Threads::run(Index index, std::uint32_t runner, std::uint16_t capability,
                  std::uint64_t& when_ns) noexcept {
  const Row& row = rows_[index];
  if (is_finished_at(index, when_ns)) return false;
  std::uint64_t earliest = row.created_ns != kNever ? row.created_ns : 0;
  // Another ran it then; one that runs it still may have stopped and not been heard of.
  if (row.ran_to_ns != kNever && row.ran_from_ns <= when_ns) earliest = std::max(earliest, row.ran_to_ns);
  if (earliest > when_ns + kSlack_ns) return false;
  when_ns = std::max(when_ns, earliest);
  Row* const changed = rows_.change(index);
  if (changed == nullptr) return true;
  note_first(*changed, capability, when_ns);
  if (when_ns < row.ran_from_ns) return true;
  changed->ran_from_ns = when_ns;
  changed->ran_to_ns = kNever;
  changed->runner = runner;
  return true;
}

bool Threads::mention(Index index, std::uint16_t capability, std::uint64_t& when_ns) noexcept {
  const Row& row = rows_[index];
  if (is_finished_at(index, when_ns)) return false;
  const std::uint64_t earliest = row.created_ns != kNever ? row.created_ns : 0;
  if (earliest > when_ns + kSlack_ns) return false;
  when_ns = std::max(when_ns, earliest);
  if (when_ns < row.first_ns) {
    if (Row* const changed = rows_.change(index)) note_first(*changed, capability, when_ns);
  }
  return true;
}

void Threads::stop(Index index, std::uint32_t runner, std::uint64_t& when_ns) noexcept {
  Row* const row = rows_.change(index);
  if (row == nullptr) return;
  if (row->runner == runner) {
    row->ran_to_ns = when_ns;
  } else if (row->ran_from_ns <= when_ns && when_ns - row->ran_from_ns < kSlack_ns) {
    when_ns = time_before(row->ran_from_ns);  // it runs elsewhere already
  }
}

void Threads::finish(Index index, std::uint64_t when_ns) noexcept {
  if (Row* const row = rows_.change(index)) row->finished_ns = when_ns;
}

// What they are never changes: only those that came are to be found.
bool Threads::apply(ByteSource& state) noexcept {
  const auto before = static_cast<Index>(rows_.size());
  if (!rows_.apply(state)) return false;
  for (Index at = before; at < rows_.size(); ++at) {
    if (!index(at)) return false;
  }
  return true;
}

}  // namespace jitquill::eventlog
