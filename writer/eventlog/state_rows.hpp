// Rows of what a sink remembers, by number: those that changed go into the next commit.
//
// Context   as the sink that uses it (writer/sink/run_sink.hpp).
// Promises  values replace: applying a state twice does no harm. A row beyond kMost is damage.
//
// A Row has `template <class Each> void each(Each each)`, which hands each its members, unsigned all.
#pragma once

#include <cstdint>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"

namespace jitquill::eventlog {

template <class Row>
class StateRows {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  std::size_t size() const noexcept { return rows_.size(); }
  const Row& operator[](std::size_t at) const noexcept { return rows_[at]; }

  // To be changed; made with all in front of it if it is not there. Null: no memory.
  Row* change(std::size_t at) noexcept {
    if (at >= kMost || !rows_.grow_to(at + 1, Row{}) || !is_changed_.grow_to(at + 1, 0)) return nullptr;
    if (is_changed_[at] == 0 && changed_.push(static_cast<std::uint32_t>(at))) is_changed_[at] = 1;
    return &rows_[at];
  }

  // | rows: count, {number, members} |, as uleb128.
  void put_changes(Bytes& state) noexcept {
    state.uleb128(changed_.size());
    for (const std::uint32_t at : changed_.all()) put(at, state);
    forget_changes();
  }
  void put_all(Bytes& state) noexcept {
    state.uleb128(rows_.size());
    for (std::size_t at = 0; at < rows_.size(); ++at) put(at, state);
    forget_changes();
  }
  // False too, where is_good(row) is of one that came.
  template <class IsGood>
  bool apply(ByteSource& state, IsGood is_good) noexcept {
    const std::uint64_t count = state.uleb128();
    for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
      const auto at = static_cast<std::size_t>(state.uleb128(kMost - 1));
      Row* const row = state.failed() ? nullptr : change(at);
      if (row == nullptr) return false;
      row->each([&](auto& member) {
        member = static_cast<std::remove_reference_t<decltype(member)>>(state.uleb128());
      });
      if (!is_good(*row)) return false;
    }
    forget_changes();
    return !state.failed();
  }
  bool apply(ByteSource& state) noexcept {
    return apply(state, [](const Row&) { return true; });
  }

 private:
  void put(std::size_t at, Bytes& state) noexcept {
    state.uleb128(at);
    rows_[at].each([&](auto& member) { state.uleb128(member); });
  }
  void forget_changes() noexcept {
    for (const std::uint32_t at : changed_.all()) is_changed_[at] = 0;
    changed_.clear();
  }

  GrowingArray<Row> rows_;
  GrowingArray<std::uint8_t> is_changed_;
  GrowingArray<std::uint32_t> changed_;
};

}  // namespace jitquill::eventlog
