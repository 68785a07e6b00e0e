#include "agent/unwinders/section.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "writer/bytes/raw_calls.hpp"
#include "writer/unwind/eh_frame.hpp"

namespace jitquill::unwinders {
namespace {

// FDE: | length 4 | distance back to the CIE 4 | pc_begin 8 | pc_range 8 | ...
constexpr std::size_t kAddressAt = 8;
constexpr std::size_t kRangeAt = 16;

// Each slot ends in so many bytes that are no entry's need, so that alone() can put its end there.
constexpr std::uint32_t kEndSize = 8;

constexpr std::uint32_t units_of(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + kUnitSize - 1) / kUnitSize);
}

std::uint32_t read_u32(const std::uint8_t* at) noexcept {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void write_u32(std::uint8_t* at, std::uint32_t value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

// Read by unwinders at the same time.
void write_word(std::uint8_t* at, std::uint64_t value) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(value, std::memory_order_release);
}

}  // namespace

Section* Section::make() noexcept {
  const long mapped =
      raw::map(sizeof(Section), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  return raw::is_error(mapped) ? nullptr : new (reinterpret_cast<void*>(mapped)) Section;
}

void Section::begin_anew(std::uint64_t from) noexcept {
  start = published_begin = published_end = from;
  object = nullptr;
  record = nullptr;
  next = nullptr;
  count_ = 0;
  current_ = 0;
  used_.clear();
  gone_.clear();
  has_gone_ = false;
  touch(0, kUnits);
  pad(0);
  pad(1);
  touched_from_ = new_from_ = kUnits;
  touched_to_ = new_to_ = 0;
}

Status Section::measure(const Unwinding& unwinding, std::uint64_t code_size,
                        std::uint32_t& unit_count) noexcept {
  unwind::EntrySizes sizes;
  const Status status = unwind::measure_entry(unwinding, unwind::PointerForm::kAbsolute8, code_size, sizes);
  if (status != Status::kOk) return status;
  if (sizes.cie + sizes.fde + kEndSize > std::uint64_t{kMaxUnits} * kUnitSize) return Status::kTooLarge;
  unit_count = units_of(sizes.cie + sizes.fde + kEndSize);
  return Status::kOk;
}

std::uint32_t Section::find_units(std::uint32_t unit_count) const noexcept {
  return used_.find_clear(unit_count);
}

// Without the units of gone functions, which the change will free: a little too strict at most.
bool Section::has_room(std::uint32_t unit_count) const noexcept {
  return count_ < kMaxFunctions && find_units(unit_count) != kUnits;
}

std::uint32_t Section::position(std::uint64_t address) const noexcept {
  const Function* const found =
      std::lower_bound(functions_, functions_ + count_, address,
                       [](const Function& function, std::uint64_t at) { return function.address < at; });
  return static_cast<std::uint32_t>(found - functions_);
}

void Section::touch(std::uint32_t from, std::uint32_t to) noexcept {
  touched_from_ = std::min(touched_from_, from);
  touched_to_ = std::max(touched_to_, to);
}

void Section::begin_change() noexcept {
  if (!has_gone_) return;
  std::uint32_t from = gone_.next(0, kUnits, true);
  while (from < kUnits) {
    const std::uint32_t to = gone_.next(from, kUnits, false);
    used_.set(from, to - from, false);
    touch(from, to);
    from = gone_.next(to, kUnits, true);
  }
  gone_.clear();
  has_gone_ = false;
}

void Section::take_units(std::uint32_t unit, std::uint32_t unit_count) noexcept {
  used_.set(unit, unit_count, true);
  touch(unit, unit + unit_count);
  new_from_ = std::min(new_from_, unit);
  new_to_ = std::max(new_to_, unit + unit_count);
}

Function* Section::insert(const Function& function) noexcept {
  Function* const at = functions_ + position(function.address);
  std::memmove(at + 1, at, static_cast<std::size_t>(functions_ + count_ - at) * sizeof(Function));
  ++count_;
  return new (at) Function(function);
}

// | CIE | FDE, its last instructions as many nops as the slot has bytes left |
Function* Section::add(const Unwinding& unwinding, std::uint64_t address, std::uint32_t size,
                       std::uint32_t unit_count) noexcept {
  const std::uint32_t unit = find_units(unit_count);
  if (unit == kUnits || count_ == kMaxFunctions) return nullptr;
  std::uint8_t* const at = copies_[current_ ^ 1] + std::size_t{unit} * kUnitSize;
  const std::uint32_t slot_size = unit_count * kUnitSize;
  Bytes bytes(std::span(at, slot_size));
  unwind::EhFrameSection entry(bytes, unwind::PointerForm::kAbsolute8);
  if (entry.add(unwinding, static_cast<std::int64_t>(address), size) != Status::kOk) return nullptr;
  const auto fde = static_cast<std::uint32_t>(entry.last_fde());
  bytes.patch_u32(fde, slot_size - fde - 4);
  bytes.fill(0, slot_size - bytes.size());
  take_units(unit, unit_count);
  return insert({.address = address,
                 .size = size,
                 .unit = static_cast<std::uint16_t>(unit),
                 .unit_count = static_cast<std::uint16_t>(unit_count),
                 .entry = fde,
                 .told_with = nullptr});
}

Function* Section::add_bytes(std::span<const std::uint8_t> bytes, const Function& like,
                             std::uint64_t address) noexcept {
  const std::uint32_t unit = find_units(like.unit_count);
  if (unit == kUnits || count_ == kMaxFunctions) return nullptr;
  std::uint8_t* const at = copies_[current_ ^ 1] + std::size_t{unit} * kUnitSize;
  std::memcpy(at, bytes.data(), bytes.size());
  write_word(at + like.entry + kAddressAt, address);
  write_word(at + like.entry + kRangeAt, like.size);
  take_units(unit, like.unit_count);
  Function moved = like;
  moved.address = address;
  moved.unit = static_cast<std::uint16_t>(unit);
  return insert(moved);
}

Function* Section::copy(const Section& from, const Function& function) noexcept {
  return add_bytes(from.bytes_of(function), function, function.address);
}

// | length | 0 | version 1 | augmentation "" | alignments 1, -8 | return address 16 | whatever lies there |
void Section::put_padding(std::uint8_t* at, std::uint32_t unit_count) noexcept {
  constexpr std::uint8_t kCie[] = {0, 0, 0, 0, 1, 0, 1, 0x78, 16};
  write_u32(at, unit_count * kUnitSize - 4);
  std::memcpy(at + 4, kCie, sizeof kCie);
}

void Section::pad(int copy) noexcept {
  if (touched_from_ >= touched_to_) return;
  const std::uint32_t from = used_.run_before(touched_from_);
  const std::uint32_t to = used_.next(touched_to_, kUnits, true);
  for (std::uint32_t unit = used_.next(from, to, false); unit < to; unit = used_.next(unit, to, false)) {
    const std::uint32_t end = used_.next(unit, to, true);
    put_padding(copies_[copy] + std::size_t{unit} * kUnitSize, end - unit);
    unit = end;
  }
}

void Section::finish_idle() noexcept {
  pad(current_ ^ 1);
  if (count_ == 0) return;
  published_begin = functions_[0].address;
  published_end = functions_[count_ - 1].end();
}

// New entries may be anywhere between new_from_ and new_to_ only when the section is filled for the first
// time; then all there are new.
void Section::repeat_change() noexcept {
  const int source = object != nullptr ? current_ : 1;
  pad(source ^ 1);
  if (new_from_ < new_to_) {
    const std::size_t offset = std::size_t{new_from_} * kUnitSize;
    std::memcpy(copies_[source ^ 1] + offset, copies_[source] + offset,
                std::size_t{new_to_ - new_from_} * kUnitSize);
  }
  touched_from_ = new_from_ = kUnits;
  touched_to_ = new_to_ = 0;
}

void Section::forget_engine() noexcept {
  object = nullptr;
  current_ = 0;  // both copies are alike between changes
  for (Function& function : functions()) function.told_with = nullptr;
}

void Section::remove(std::uint32_t at) noexcept {
  const Function function = functions_[at];
  for (int copy = 0; copy < 2; ++copy) write_word(slot(copy, function) + function.entry + kRangeAt, 0);
  gone_.set(function.unit, function.unit_count, true);
  has_gone_ = true;
  --count_;
  std::memmove(functions_ + at, functions_ + at + 1, (count_ - at) * sizeof(Function));
}

// In copy 1, since nothing is registered whole with an engine that takes functions one by one.
const void* Section::alone(const Function& function) noexcept {
  std::uint8_t* const at = slot(1, function);
  const std::uint32_t slot_size = function.unit_count * kUnitSize;
  write_u32(at + function.entry, read_u32(slot(0, function) + function.entry) - kEndSize);
  std::memset(at + slot_size - kEndSize, 0, kEndSize);
  return at;
}

}  // namespace jitquill::unwinders
