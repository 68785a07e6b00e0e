#include "agent/drain/functions.hpp"

#include <algorithm>
#include <charconv>

namespace jitquill::drain {
namespace {

using lanes::CodeLaneReader;
using lanes::CodeRecord;
using lanes::CodeRecordKind;

constexpr std::uint64_t kMostJump = std::uint64_t{1} << 20;  // ids ascend by one: a greater gap is damage
constexpr std::uint64_t kAddressKey = std::uint64_t{1} << 63;
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t kNoPlacement = ~std::uint32_t{0};
constexpr std::size_t kMostOverlaps = 64;  // placements below an address that are looked at

}  // namespace

std::size_t NumberTable::place_of(std::uint64_t key) const noexcept {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = (key * 0x9E3779B97F4A7C15ULL >> 32) & mask;
  while (cells_[at].value != kNone && cells_[at].key != key) at = (at + 1) & mask;
  return at;
}

std::uint32_t NumberTable::find(std::uint64_t key) const noexcept {
  return cells_.empty() ? kNone : cells_[place_of(key)].value;
}

bool NumberTable::put(std::uint64_t key, std::uint32_t value) noexcept {
  constexpr std::size_t kFirst = 64;
  if (2 * (used_ + 1) > cells_.size()) {
    NumberTable larger;
    if (!larger.cells_.grow_to(cells_.empty() ? kFirst : 2 * cells_.size(), Cell{0, kNone})) return false;
    for (const Cell& cell : cells_.all()) {
      if (cell.value != kNone) larger.cells_[larger.place_of(cell.key)] = cell;
    }
    cells_.swap(larger.cells_);
  }
  Cell& cell = cells_[place_of(key)];
  if (cell.value == kNone) ++used_;
  cell = {key, value};
  return true;
}

void Functions::read_news() noexcept {
  if (lane_ == nullptr) return;
  CodeRecord record;
  while (lane_->next(record) == CodeLaneReader::Next::kRecord) note(record);
}

bool Functions::know(std::uint64_t id) noexcept {
  if (id < ids_.size()) return true;
  return id != 0 && id - ids_.size() < kMostJump && ids_.grow_to(id + 1, Known{0, kNone, kNoPlacement});
}

void Functions::note(const CodeRecord& record) noexcept {
  if (!know(record.id)) return;
  Known& known = ids_[record.id];
  const bool has_name = record.kind == CodeRecordKind::kLoad || record.kind == CodeRecordKind::kFunction;
  if (has_name && known.record_at == 0) known.record_at = lane_->last_at();
  if (known.placement != kNoPlacement) placements_[known.placement].until_ns = record.when_ns;
  if (record.kind == CodeRecordKind::kLoad || record.kind == CodeRecordKind::kMove) place(record);
}

void Functions::place(const CodeRecord& record) noexcept {
  const Placement placement{record.address, record.size, record.when_ns, kNever, record.id};
  const auto index = static_cast<std::uint32_t>(placements_.size());
  ids_[record.id].placement = placements_.push(placement) ? index : kNoPlacement;
}

void Functions::sort_placements() noexcept {
  if (sorted_ == placements_.size()) return;
  for (; sorted_ < placements_.size(); ++sorted_) {
    if (!by_address_.push(static_cast<std::uint32_t>(sorted_))) return;
  }
  std::ranges::sort(by_address_.all(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t at_a = placements_[a].address;
    const std::uint64_t at_b = placements_[b].address;
    return at_a != at_b ? at_a < at_b : a < b;
  });
}

// The latest that was there: newer code ends what it overlaps, and nobody says so.
const Functions::Placement* Functions::find_placement(std::uint64_t address, std::uint64_t when_ns) noexcept {
  sort_placements();
  const auto all = by_address_.all();
  auto at =
      std::ranges::upper_bound(all, address, {}, [&](std::uint32_t i) { return placements_[i].address; });
  const Placement* found = nullptr;
  for (std::size_t looks = 0; at != all.begin() && looks < kMostOverlaps; ++looks) {
    const Placement& placement = placements_[*--at];
    const bool is_there = address - placement.address < std::max<std::uint64_t>(placement.size, 1) &&
                          placement.since_ns <= when_ns && when_ns < placement.until_ns;
    if (is_there && (found == nullptr || placement.since_ns > found->since_ns)) found = &placement;
  }
  return found;
}

FunctionNumber Functions::add(std::uint64_t id, std::uint64_t address) noexcept {
  const auto number = static_cast<FunctionNumber>(functions_.size());
  return functions_.push({id, address}) ? number : kNone;
}

FunctionNumber Functions::number_id(std::uint64_t id) noexcept {
  if (id < ids_.size()) {
    const FunctionNumber before = strange_.find(id);  // it ran before the code lane told of it
    return ids_[id].number = before != kNone ? before : add(id, 0);
  }
  const FunctionNumber number = strange_.find(id);
  if (number != kNone) return number;
  const FunctionNumber added = add(id, 0);
  if (added != kNone && !strange_.put(id, added)) functions_.pop();
  return strange_.find(id);
}

FunctionNumber Functions::by_address(std::uint64_t address, std::uint64_t when_ns) noexcept {
  if (!placements_.empty()) {
    const Placement* const placement = find_placement(address, when_ns);
    if (placement != nullptr) return by_id(placement->id);
  }
  const FunctionNumber number = strange_.find(address | kAddressKey);
  if (number != kNone) return number;
  const FunctionNumber added = add(0, address);
  if (added != kNone && !strange_.put(address | kAddressKey, added)) functions_.pop();
  return strange_.find(address | kAddressKey);
}

FunctionInfo Functions::describe(FunctionNumber number, Text& text) noexcept {
  const Function& function = functions_[number];
  FunctionInfo info{number, function.id, function.address, 0, {}, {}, 0};
  CodeRecord record;
  const bool is_known = function.id != 0 && function.id < ids_.size() && ids_[function.id].record_at != 0;
  if (is_known && lane_ != nullptr && lane_->read_at(ids_[function.id].record_at, record)) {
    info.address = record.address;
    info.size = record.size;
    info.name = record.name;
    info.file = record.file;
    info.line = record.line;
  }
  if (!info.name.empty()) return info;
  ++nameless_;
  const bool is_code = function.id != 0;
  char* const digits = std::copy_n(is_code ? "jit_" : "0x", is_code ? 4 : 2, text.made);
  const char* const end = std::to_chars(digits, text.made + sizeof text.made,
                                        is_code ? function.id : function.address, is_code ? 10 : 16)
                              .ptr;
  info.name = {text.made, static_cast<std::size_t>(end - text.made)};
  return info;
}

void Functions::put_from(std::size_t first, Bytes& state) noexcept {
  state.uleb128(functions_.size() - first);
  for (std::size_t i = first; i < functions_.size(); ++i)
    state.uleb128(functions_[i].id).uleb128(functions_[i].address);
  put_ = functions_.size();
}

void Functions::put_new(Bytes& state) noexcept {
  put_from(put_, state);
}

void Functions::put_all(Bytes& state) noexcept {
  put_from(0, state);
}

// The sinks know them already. An id that the code lane has not is as strange as it was.
bool Functions::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::uint64_t id = state.uleb128();
    const std::uint64_t address = state.uleb128();
    if (state.failed()) return false;
    const FunctionNumber number = add(id, address);
    if (number == kNone) return false;
    if (id != 0 && id < ids_.size()) {
      ids_[id].number = number;
    } else if (!strange_.put(id != 0 ? id : address | kAddressKey, number)) {
      return false;
    }
  }
  defined_ = put_ = functions_.size();
  return !state.failed();
}

}  // namespace jitquill::drain
