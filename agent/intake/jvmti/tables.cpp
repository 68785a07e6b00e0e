#include "agent/intake/jvmti/tables.hpp"

#include <algorithm>
#include <cstring>

#include "agent/intake/hash.hpp"

namespace jitquill::intake::jvmti {
namespace {

// Positions by what makes them different, so that a call that covers many stretches is one.
class Positions {
 public:
  explicit Positions(Scratch& scratch) noexcept
      : slots_(scratch.take_array<Slot>(kSlots)), positions_(scratch.take_array<InlinePosition>(kMost)) {}

  bool has_memory() const noexcept { return !slots_.empty() && !positions_.empty(); }
  std::span<const InlinePosition> all() const noexcept { return positions_.first(count_); }

  // Its index; -1: there are too many.
  std::int32_t put(std::int32_t caller, MethodId id, const Method* method, std::uint32_t line) noexcept {
    const Key key{id, caller, line};
    Slot& slot = slot_of(key);
    if (slot.index_and_one != 0) return slot.index_and_one - 1;
    if (count_ == kMost) return -1;
    positions_[count_] = position(caller, method, line);
    slot = {key, static_cast<std::int32_t>(++count_)};
    return slot.index_and_one - 1;
  }

 private:
  static constexpr std::size_t kMost = 8192;
  static constexpr std::size_t kSlots = 2 * kMost;
  struct Key {
    MethodId id;
    std::int32_t caller;
    std::uint32_t line;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    std::int32_t index_and_one;  // 0 = free
  };

  Slot& slot_of(const Key& key) noexcept {
    const std::uint64_t place = std::uint64_t{static_cast<std::uint32_t>(key.caller)} << 32 | key.line;
    std::size_t at = mixed(mixed(reinterpret_cast<std::uintptr_t>(key.id)) ^ place) % kSlots;
    while (slots_[at].index_and_one != 0 && !(slots_[at].key == key)) at = (at + 1) % kSlots;
    return slots_[at];
  }

  static InlinePosition position(std::int32_t caller, const Method* method, std::uint32_t line) noexcept {
    InlinePosition made{};
    made.caller = caller;
    made.line = line;
    made.function = method == nullptr ? "?" : method->name;
    made.function_line = method == nullptr ? 0 : method->line_at(0);
    made.file = method == nullptr ? nullptr : method->file;
    return made;
  }

  std::span<Slot> slots_;
  std::span<InlinePosition> positions_;
  std::size_t count_ = 0;
};

std::uint32_t line_in(const Method* method, std::int32_t bytecode) noexcept {
  return method == nullptr ? 0 : method->line_at(bytecode);
}

bool is_same_place(const Line& row, const Line& other) noexcept {
  if (row.line != other.line) return false;
  if (row.file == nullptr || other.file == nullptr) return row.file == other.file;
  return std::strcmp(row.file, other.file) == 0;
}

// From the outermost to the innermost; -1: too many positions.
std::int32_t put_stack(Positions& positions, const Stretch& stretch, Methods& methods) noexcept {
  std::int32_t caller = -1;
  for (std::uint32_t i = stretch.depth; i-- != 0;) {
    const Method* const method = methods.find(stretch.methods[i]);
    caller = positions.put(caller, stretch.methods[i], method, line_in(method, stretch.bytecodes[i]));
    if (caller < 0) return -1;
  }
  return caller;
}

}  // namespace

std::span<const Line> lines_of(std::span<const Stretch> stretches, Methods& methods,
                               Scratch& scratch) noexcept {
  const auto rows = scratch.take_array<Line>(stretches.size());
  if (rows.empty()) return {};
  std::size_t count = 0;
  bool is_any_known = false;
  for (const Stretch& stretch : stretches) {
    const Method* const method = methods.find(stretch.methods[0]);
    const Line row{stretch.offset, line_in(method, stretch.bytecodes[0]), 0,
                   method == nullptr ? nullptr : method->file};
    is_any_known |= row.line != 0;
    if (count == 0 || !is_same_place(rows[count - 1], row)) rows[count++] = row;
  }
  return is_any_known ? rows.first(count) : std::span<Line>{};
}

Inlining inlining_of(std::span<const Stretch> stretches, Methods& methods, Scratch& scratch) noexcept {
  if (std::none_of(stretches.begin(), stretches.end(), [](const Stretch& s) { return s.depth > 1; }))
    return {};
  Positions positions(scratch);
  const auto rows = scratch.take_array<InlineRow>(stretches.size());
  if (rows.empty() || !positions.has_memory()) return {};
  std::size_t count = 0;
  for (const Stretch& stretch : stretches) {
    const std::int32_t position = put_stack(positions, stretch, methods);
    if (position < 0) return {};
    const InlineRow row{stretch.offset, static_cast<std::uint32_t>(position)};
    if (count == 0 || rows[count - 1].position != row.position) rows[count++] = row;
  }
  return {positions.all(), rows.first(count)};
}

}  // namespace jitquill::intake::jvmti
