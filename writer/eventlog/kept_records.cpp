#include "writer/eventlog/kept_records.hpp"

#include <algorithm>
#include <utility>

namespace jitquill::eventlog {
namespace {

constexpr std::size_t kLeastUnused = 64 * 1024;  // until it is worth a copy of the others

// All of it, or false: no Bytes, whose failure would last.
bool append(std::span<const std::uint8_t> record, GrowingArray<std::uint8_t>& bytes) noexcept {
  const std::size_t at = bytes.size();
  if (!bytes.reserve(at + record.size())) return false;
  std::ranges::copy(record, bytes.data() + at);
  bytes.set_size(at + record.size());
  return true;
}

}  // namespace

void KeptRecords::keep(std::uint64_t key, std::span<const std::uint8_t> record) noexcept {
  std::uint32_t index = by_key_.find(key);
  if (index == NumberTable::kNone) {
    if (record.empty()) return;
    index = static_cast<std::uint32_t>(rows_.size());
    if (!rows_.push({key, 0, 0, 0})) return;
    if (!by_key_.put(key, index)) return rows_.pop();
  }
  const std::size_t at = bytes_.size();
  if (!append(record, bytes_)) return;
  Row& row = rows_[index];
  unused_ += row.size;
  row.at = at;
  row.size = static_cast<std::uint32_t>(record.size());
  if (row.is_changed == 0 && changed_.push(index)) row.is_changed = 1;
  tidy();
}

std::span<const std::uint8_t> KeptRecords::record(std::uint64_t key) const noexcept {
  const std::uint32_t index = by_key_.find(key);
  return index == NumberTable::kNone ? std::span<const std::uint8_t>() : bytes_of(rows_[index]);
}

// Names that are told again and again would otherwise fill the memory.
void KeptRecords::tidy() noexcept {
  if (unused_ < kLeastUnused || unused_ < bytes_.size() / 2) return;
  GrowingArray<std::uint8_t> used;
  if (!used.reserve(bytes_.size() - unused_)) return;
  for (Row& row : rows_.all()) {
    const std::size_t at = used.size();
    (void)append(bytes_of(row), used);
    row.at = at;
  }
  bytes_ = std::move(used);
  unused_ = 0;
}

void KeptRecords::put_row(const Row& row, Bytes& state) const noexcept {
  state.uleb128(row.key).uleb128(row.size).raw(bytes_of(row));
}

void KeptRecords::forget_changes() noexcept {
  for (const std::uint32_t index : changed_.all()) rows_[index].is_changed = 0;
  changed_.clear();
}

void KeptRecords::put_changes(Bytes& state) noexcept {
  state.uleb128(changed_.size());
  for (const std::uint32_t index : changed_.all()) put_row(rows_[index], state);
  forget_changes();
}

void KeptRecords::put_all(Bytes& state) noexcept {
  state.uleb128(rows_.size());
  for (const Row& row : rows_.all()) put_row(row, state);
  forget_changes();
}

bool KeptRecords::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::uint64_t key = state.uleb128();
    const auto record = state.raw(state.uleb128(0xFFFFFFFF));
    if (!state.failed()) keep(key, record);
  }
  forget_changes();
  return !state.failed();
}

}  // namespace jitquill::eventlog
