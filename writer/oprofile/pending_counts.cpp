#include "writer/oprofile/pending_counts.hpp"

#include <algorithm>

namespace jitquill::oprofile {

std::uint64_t PendingCounts::drop_new() noexcept {
  std::uint64_t dropped = 0;
  for (const Count& one : all_.all().subspan(written_)) dropped += one.count;
  all_.cut(written_);
  return dropped;
}

Status PendingCounts::flush(bool all) noexcept {
  Status failed = Status::kOk;
  const std::size_t end = all ? written_ : put_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < end; ++i) {
    const Count one = all_[i];
    const Status status = base_.add(one.key, one.count);
    if (status == Status::kOk) continue;
    if (failed == Status::kOk) failed = status;
    all_[kept++] = one;
  }
  put_ = kept;
  written_ -= end - kept;
  for (std::size_t i = end; i < all_.size(); ++i) all_[kept++] = all_[i];
  all_.cut(kept);
  return failed;
}

void PendingCounts::merge() noexcept {
  std::ranges::sort(all_.all(), {}, &Count::key);
  std::size_t kept = 0;
  for (const Count& one : all_.all()) {
    if (kept != 0 && all_[kept - 1].key == one.key)
      all_[kept - 1].count += one.count;
    else
      all_[kept++] = one;
  }
  all_.cut(kept);
}

void PendingCounts::put(Bytes& state) noexcept {
  merge();
  state.uleb128(all_.size());
  for (const Count& one : all_.all()) state.uleb128(one.key).uleb128(base_.count_of(one.key) + one.count);
  put_ = written_ = all_.size();
}

bool PendingCounts::apply(ByteSource& state) noexcept {
  all_.clear();
  put_ = written_ = 0;
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::uint64_t key = state.uleb128(), value = state.uleb128();
    if (!state.failed() && !all_.push({key, value})) return false;
  }
  return !state.failed();
}

Status PendingCounts::redo() noexcept {
  Status failed = Status::kOk;
  for (const Count& one : all_.all()) {
    const std::uint64_t before = base_.count_of(one.key);
    const Status status = one.count > before ? base_.add(one.key, one.count - before) : Status::kOk;
    if (failed == Status::kOk) failed = status;
  }
  all_.clear();
  put_ = written_ = 0;
  return failed;
}

}  // namespace jitquill::oprofile
