#include "agent/drain/functions.hpp"

#include <algorithm>
#include <charconv>

#include "agent/base/text_pieces.hpp"
#include "agent/lanes/wanted_stacks.hpp"

namespace jitquill::drain {
namespace {

using lanes::CodeLaneReader;
using lanes::CodeRecord;
using lanes::CodeRecordKind;

constexpr std::uint64_t kMostJump = std::uint64_t{1} << 20;  // ids ascend by one: a greater gap is damage
constexpr std::uint64_t kAddressKey = std::uint64_t{1} << 63;
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr unsigned kAddressBits =
    48;  // above them: which of the modules that were there (native_modules.hpp)
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;
static_assert(kAddressKey >> kAddressBits == std::uint64_t{1} << NativeModules::kTagBits);
constexpr std::uint32_t kNoPlacement = ~std::uint32_t{0};
// Instead of a code's id: a module all of whose nameless code is one function, or of no module.
constexpr std::uint64_t kStandIn = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfNoModule = kStandIn | 0xFFFFFFFF;
constexpr std::size_t kMostOverlaps = 64;  // placements below an address that are looked at

}  // namespace

void Functions::read_news() noexcept {
  if (lane_ == nullptr) return;
  CodeRecord record;
  while (lane_->next(record) == CodeLaneReader::Next::kRecord) note(record);
}

Functions::Known* Functions::known(std::uint64_t id) noexcept {
  const std::uint64_t at = id - first_id_;
  return at < ids_.size() ? &ids_[at] : nullptr;
}

// Null: damage. A child of fork goes on with its parent's ids, so the first may be any; those that were
// announced from inside other announcements come a little late.
Functions::Known* Functions::know(std::uint64_t id) noexcept {
  constexpr std::uint64_t kLate = 1024;
  if (ids_.empty()) first_id_ = id < kLate ? 0 : id - kLate;
  const std::uint64_t at = id - first_id_;
  const bool is_near = id != 0 && (at < ids_.size() || at - ids_.size() < kMostJump);
  if (!is_near || !ids_.grow_to(std::max<std::size_t>(at + 1, ids_.size()), Known{0, kNone, kNoPlacement}))
    return nullptr;
  return &ids_[at];
}

void Functions::note(const CodeRecord& record) noexcept {
  ++changes_;
  Known* const known = know(record.id);
  if (known == nullptr) return;
  const bool has_name = record.kind == CodeRecordKind::kLoad || record.kind == CodeRecordKind::kFunction;
  if (has_name && known->record_at == 0) known->record_at = lane_->last_at();
  if (known->placement != kNoPlacement) placements_[known->placement].until_ns = record.when_ns;
  if (record.kind == CodeRecordKind::kLoad || record.kind == CodeRecordKind::kMove) place(record, *known);
}

void Functions::place(const CodeRecord& record, Known& known) noexcept {
  const Placement placement{record.address, record.size, record.when_ns, kNever, record.id};
  const auto index = static_cast<std::uint32_t>(placements_.size());
  known.placement = placements_.push(placement) ? index : kNoPlacement;
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

// Of by_address_: no newer code lies there.
bool Functions::is_live(std::size_t in_order) const noexcept {
  const std::uint32_t index = by_address_[in_order];
  const Placement& code = placements_[index];
  if (code.until_ns != kNever || code.size == 0) return false;
  const auto all = by_address_.all();
  for (std::size_t i = in_order + 1; i < all.size(); ++i) {
    if (placements_[all[i]].address - code.address >= code.size) break;
    if (all[i] > index) return false;
  }
  for (std::size_t looks = 1; looks <= std::min(in_order, kMostOverlaps); ++looks) {
    const std::uint32_t other = all[in_order - looks];
    const Placement& before = placements_[other];
    if (other > index && code.address - before.address < before.size) return false;
  }
  return true;
}

bool Functions::read_live(const Placement& placement, std::uint64_t from, std::uint64_t to,
                          CodeRecord& record) noexcept {
  const Known* const known = this->known(placement.id);
  if (known == nullptr || known->record_at < std::max<std::uint64_t>(from, 1) || known->record_at >= to)
    return false;
  if (!lane_->read_at(known->record_at, record) || record.kind != CodeRecordKind::kLoad) return false;
  record.when_ns = placement.since_ns;
  record.address = placement.address;
  record.size = placement.size;
  return true;
}

FunctionNumber Functions::add(std::uint64_t id, std::uint64_t address) noexcept {
  const auto number = static_cast<FunctionNumber>(functions_.size());
  return functions_.push({id, address}) ? number : kNone;
}

// What nobody has a number for yet.
FunctionNumber Functions::number_strange(std::uint64_t key, std::uint64_t id,
                                         std::uint64_t address) noexcept {
  const FunctionNumber number = strange_.find(key);
  if (number != kNone) return number;
  const FunctionNumber added = add(id, address);
  if (added != kNone && !strange_.put(key, added)) functions_.pop();
  return strange_.find(key);
}

FunctionNumber Functions::number_id(std::uint64_t id) noexcept {
  if (Known* const known = this->known(id)) {
    if (known->number != kNone) return known->number;
    const FunctionNumber before = strange_.find(id);  // it ran before the code lane told of it
    return known->number = before != kNone ? before : add(id, 0);
  }
  return number_strange(id, id, 0);
}

FunctionNumber Functions::by_address(std::uint64_t address, std::uint64_t when_ns) noexcept {
  has_natives_ = true;
  if (!placements_.empty()) {
    const Placement* const placement = find_placement(address, when_ns);
    if (placement != nullptr) return by_id(placement->id);
  }
  const std::uint64_t tag = native_.tag_of(address, when_ns);
  const FunctionNumber number = native_numbers_.find(address | tag << kAddressBits);
  return number != kNone ? number : number_native(address, tag);
}

// Hooks say some address in the function: where it begins is its own.
FunctionNumber Functions::number_native(std::uint64_t address, std::uint64_t tag) noexcept {
  const NativeName native = native_.find(address, tag);
  if (native_.size() != modules_searched_) tell_wanted_stacks();
  const std::uint64_t start = (native.name.empty() ? address : native.address) | tag << kAddressBits;
  Text text;
  const std::string_view name = native.name.empty() ? name_of_address(address, text) : native.name;
  const bool is_hidden = has_patterns_ && !patterns_.match(name, shown(name));
  const FunctionNumber number = is_hidden ? kHidden : number_strange(start | kAddressKey, 0, start);
  if (number != kNone) (void)native_numbers_.put(address | tag << kAddressBits, number);
  if (is_hidden && unwanted_.add != nullptr) unwanted_.add(address);
  return number;
}

void Functions::set_patterns(std::string_view list) noexcept {
  has_patterns_ = are_patterns_new_ = patterns_.set(list) == nullptr;
  native_numbers_.clear();
  if (unwanted_.clear != nullptr) unwanted_.clear();
  tell_wanted_stacks();
}

void Functions::want_stacks(std::string_view list) noexcept {
  (void)stack_patterns_.set(list);
  tell_wanted_stacks();
}

bool Functions::is_stack_wanted(std::string_view name) noexcept {
  const std::string_view other = shown(name);
  return stack_patterns_.match(name, other) && (!has_patterns_ || patterns_.match(name, other));
}

// Where memory runs out, what was told before stands. While no native function is traced no names are read,
// which may take a second of a large program's: all is wanted that comes.
void Functions::tell_wanted_stacks() noexcept {
  if (!stack_patterns_.any()) return;
  GrowingArray<lanes::AddressSpan> seen, wanted;
  if (!has_natives_) return lanes::tell_wanted_stacks(seen, wanted);
  bool has_memory = true;
  native_.for_each_hooked(
      [&](std::uint64_t start, std::uint64_t end) {
        has_memory &= seen.push({start, end});
      },
      [&](std::uint64_t start, std::uint64_t size, std::string_view name) {
        if (size != 0 && is_stack_wanted(name)) has_memory &= wanted.push({start, start + size});
      });
  modules_searched_ = native_.size();
  if (has_memory) lanes::tell_wanted_stacks(seen, wanted);
}

FunctionNumber Functions::by_stack_entry(std::uint64_t address, std::uint64_t when_ns) noexcept {
  const FunctionNumber number = by_address(address, when_ns);
  if (number == kNone || number == kHidden || !stack_patterns_.any()) return number;
  const NativeName native = native_.find(address, native_.tag_of(address, when_ns));
  return is_stack_wanted(native.name) ? number : kHidden;
}

FunctionNumber Functions::by_return(std::uint64_t address, std::uint64_t when_ns) noexcept {
  if (const Placement* const placement = find_placement(address, when_ns)) return by_id(placement->id);
  const std::uint64_t tag = native_.tag_of(address, when_ns);
  const std::uint64_t tagged = address | tag << kAddressBits;
  FunctionNumber number = callers_.find(tagged);
  if (number != kNone) return number;
  const NativeName native = native_.find(address, tag);
  const std::uint64_t start = (native.name.empty() ? address : native.address) | tag << kAddressBits;
  number = number_strange(start | kAddressKey, 0, start);
  if (number != kNone) (void)callers_.put(tagged, number);
  return number;
}

Functions::Place Functions::place_of(std::uint64_t address, std::uint64_t when_ns) noexcept {
  if (const Placement* const placement = find_placement(address, when_ns))
    return {by_id(placement->id), address - placement->address};
  if (!native_.has(address)) return {number_strange(kOfNoModule, kOfNoModule, 0), 0};
  const std::uint64_t tag = native_.tag_of(address, when_ns);
  if (const NativeName native = native_.find(address, tag); !native.name.empty()) {
    const std::uint64_t start = native.address | tag << kAddressBits;
    return {number_strange(start | kAddressKey, 0, start), address - native.address};
  }
  const NativeModules::Known module = native_.module_with(address, tag);
  const std::uint64_t id = module.is_there ? kStandIn | module.index : kOfNoModule;  // it went
  return {number_strange(id, id, 0), module.is_there ? address - module.start : 0};
}

std::string_view Functions::name_of_stand_in(std::uint64_t id, Text& text) noexcept {
  if (id == kOfNoModule) return "[unknown]";
  const std::string_view path = native_.path_of(id - kStandIn);
  const std::size_t slash = path.rfind('/');
  const std::string_view name = without_first(path, slash == path.npos ? 0 : slash + 1);
  if (name.starts_with('[')) return name;  // the kernel's
  char* at = text.made;
  *at++ = '[';
  at = std::copy_n(name.data(), std::min(name.size(), sizeof text.made - 2), at);
  *at++ = ']';
  return {text.made, static_cast<std::size_t>(at - text.made)};
}

// Of jitted code they are in the code lane, as if they lay behind it.
bool Functions::find_tables(std::uint64_t address, std::uint64_t when_ns,
                            stacks::CodeTables& tables) noexcept {
  tables = {};
  const Placement* const placement = find_placement(address, when_ns);
  if (placement == nullptr) {
    ModuleTables module;
    if (!native_.find_tables(address, module)) return false;
    tables = {module.header, module.low, module.high, {}, 0, false};
    return true;
  }
  CodeRecord record;
  const Known* const known = this->known(placement->id);
  const bool has_record = known != nullptr && known->record_at != 0 && lane_ != nullptr &&
                          lane_->read_at(known->record_at, record);
  if (!has_record || record.tables.empty()) return true;
  tables.keeps_frame_pointer = record.tables_header == 0;  // an empty .eh_frame
  tables.copy = record.tables;
  tables.copy_at = placement->address + record.tables_offset;
  tables.header = tables.copy_at + record.tables_header;
  return true;
}

std::string_view Functions::name_of_address(std::uint64_t address, Text& text) noexcept {
  return made_name("0x", address, 16, text);
}

std::string_view Functions::made_name(std::string_view front, std::uint64_t number, int base,
                                      Text& text) noexcept {
  char* const digits = std::copy_n(front.data(), front.size(), text.made);
  const char* const end = std::to_chars(digits, text.made + sizeof text.made, number, base).ptr;
  return {text.made, static_cast<std::size_t>(end - text.made)};
}

FunctionInfo Functions::describe(FunctionNumber number, Text& text) noexcept {
  const Function& function = functions_[number];
  const std::uint64_t address = function.address & kAddressMask;
  FunctionInfo info{number, function.id, address, 0, {}, {}, 0};
  if (function.id >= kStandIn) {
    info.code_id = 0;
    info.name = name_of_stand_in(function.id, text);
    return info;
  }
  CodeRecord record;
  const Known* const known = function.id != 0 ? this->known(function.id) : nullptr;
  const bool has_record = known != nullptr && known->record_at != 0 && lane_ != nullptr;
  if (has_record && lane_->read_at(known->record_at, record)) {
    info.address = record.address;
    info.size = record.size;
    info.name = record.name;
    info.file = record.file;
    info.line = record.line;
  }
  if (function.id == 0) {
    const NativeName native = native_.find(address, function.address >> kAddressBits);
    info.size = native.size;
    info.name = native.name;
  }
  info.name = shown(info.name);
  if (!info.name.empty()) return info;
  const bool was_a_caller_only =
      function.id == 0 && function.address != 0 && native_numbers_.find(function.address) == kNone;
  if (!was_a_caller_only) ++nameless_;  // nobody asked for a trace of callers
  info.name = function.id != 0 ? made_name("jit_", function.id, 10, text) : name_of_address(address, text);
  return info;
}

void Functions::put_from(std::size_t first, Bytes& state) noexcept {
  state.uleb128(functions_.size() - first);
  for (std::size_t i = first; i < functions_.size(); ++i)
    state.uleb128(functions_[i].id).uleb128(functions_[i].address);
  put_ = functions_.size();
}

void Functions::put_patterns(bool are_wanted, Bytes& state) noexcept {
  are_patterns_new_ = false;
  state.u8(demangles_ ? 1 : 0);
  if (!are_wanted) return (void)state.uleb128(0);
  state.uleb128(patterns_.view().size() + 1).raw(patterns_.view());
  state.uleb128(stack_patterns_.view().size()).raw(stack_patterns_.view());
}

void Functions::put_new(Bytes& state) noexcept {
  put_from(put_, state);
  native_.put_new(state);
  put_patterns(are_patterns_new_, state);
}

void Functions::put_all(Bytes& state) noexcept {
  put_from(0, state);
  native_.put_all(state);
  put_patterns(has_patterns_, state);
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
    Known* const known = id != 0 ? this->known(id) : nullptr;
    if (known != nullptr) {
      known->number = number;
    } else if (!strange_.put(id != 0 ? id : address | kAddressKey, number)) {
      return false;
    }
  }
  defined_ = put_ = functions_.size();
  has_natives_ = true;  // a hidden one may be open
  if (!native_.apply(state)) return false;
  demangles_ = state.u8() != 0;
  if (const std::uint64_t size = state.uleb128(); size != 0) {
    set_patterns(state.text(size - 1));
    (void)stack_patterns_.set(state.text());
  }
  return !state.failed();
}

}  // namespace jitquill::drain
