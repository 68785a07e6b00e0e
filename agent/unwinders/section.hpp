// The unwinding entries of up to 4,096 functions that lie close together: an .eh_frame that changes while
// other threads read it.
//
// Every entry has its own slot, at the same place in two copies of the section. One copy is registered. A
// change is made in the other, idle one, which is registered before the first is given up, and is then
// repeated there. So:
//   * the bytes of a live function's entry never change, whatever is registered: an unwinder that found an
//     entry goes on reading it when the lock of libgcc is long released;
//   * a slot is used anew when its function is gone. Nobody reads it then: an unwinder that could find it
//     would stand in the function.
// Gaps are padded with CIEs that nothing refers to. A gone function's entry covers no bytes until the next
// change takes it away: its range is set to 0 in place, which libgcc 12 and libunwind look at each time.
//
// Context   under the lock of registry.hpp. Registers nothing itself.
// Promises  no memory but its own mapping, which is used again and never given back.
#pragma once

#include <cstdint>
#include <span>

#include "agent/unwinders/host_unwinders.hpp"
#include "agent/unwinders/slots.hpp"
#include "writer/model/status.hpp"
#include "writer/model/unwinding.hpp"

namespace jitquill::unwinders {

class Record;

struct Function {
  std::uint64_t address;
  std::uint32_t size;
  std::uint16_t unit;
  std::uint16_t unit_count;
  std::uint32_t entry;    // where its FDE begins in the slot
  const void* told_with;  // what a kFunctions or kEntries engine was given; null: nothing

  std::uint64_t end() const noexcept { return address + size; }
};

class Section {
 public:
  static constexpr std::uint32_t kMaxFunctions = 4096;
  static constexpr std::uint32_t kMaxUnits = 512;  // of one function: 16 KiB
  static constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 30;

  // Null: no memory.
  static Section* make() noexcept;
  void begin_anew(std::uint64_t start) noexcept;

  // How many units an entry takes. kBadFrame, kTooLarge.
  static Status measure(const Unwinding& unwinding, std::uint64_t code_size,
                        std::uint32_t& unit_count) noexcept;

  // -- what it holds: live functions, by address --
  std::span<Function> functions() noexcept { return {functions_, count_}; }
  bool has_room(std::uint32_t unit_count) const noexcept;
  // The first function at or above the address.
  std::uint32_t position(std::uint64_t address) const noexcept;

  // -- a change: begin_change(), then add, copy; finish_idle(); the idle copy becomes the registered one by
  //    swap(); repeat_change() makes both alike again --
  void begin_change() noexcept;
  Function* add(const Unwinding& unwinding, std::uint64_t address, std::uint32_t size,
                std::uint32_t unit_count) noexcept;
  Function* copy(const Section& from, const Function& function) noexcept;
  void finish_idle() noexcept;
  void swap() noexcept { current_ ^= 1; }
  void repeat_change() noexcept;
  // The engine is gone from the process, with all that it was told.
  void forget_engine() noexcept;
  // Ends a function at once, in both copies. The last step of an unload.
  void remove(std::uint32_t position) noexcept;

  // -- for the engine --
  const void* registered() const noexcept { return copies_[current_]; }
  const void* idle() const noexcept { return copies_[current_ ^ 1]; }
  // A section of this function's entry alone, made in the copy that a kFunctions engine never sees whole.
  const void* alone(const Function& function) noexcept;
  const void* entry_of(const Function& function) const noexcept { return slot(0, function) + function.entry; }
  // Its slot, in the form that add_bytes() takes.
  std::span<const std::uint8_t> bytes_of(const Function& function) const noexcept {
    return {slot(0, function), std::size_t{function.unit_count} * kUnitSize};
  }
  Function* add_bytes(std::span<const std::uint8_t> bytes, const Function& like,
                      std::uint64_t address) noexcept;

  // -- for libunwind: rows of the live functions, and what they are counted from --
  std::uint64_t fde_base() const noexcept { return reinterpret_cast<std::uint64_t>(copies_[0]); }

  std::uint64_t start = 0;            // owns the addresses from here to the next section's start
  std::uint64_t published_begin = 0;  // what the engines believe to be covered, gone functions included
  std::uint64_t published_end = 0;
  void* object = nullptr;  // libgcc's note of the registered copy; null: it has been told of none
  Record* record = nullptr;
  Section* next = nullptr;  // in whichever list it is

 private:
  static constexpr std::size_t kCopySize = std::size_t{kUnits} * kUnitSize;

  std::uint8_t* slot(int copy, const Function& function) noexcept {
    return copies_[copy] + std::size_t{function.unit} * kUnitSize;
  }
  const std::uint8_t* slot(int copy, const Function& function) const noexcept {
    return copies_[copy] + std::size_t{function.unit} * kUnitSize;
  }
  std::uint32_t find_units(std::uint32_t unit_count) const noexcept;
  Function* insert(const Function& function) noexcept;
  void take_units(std::uint32_t unit, std::uint32_t unit_count) noexcept;
  void touch(std::uint32_t from, std::uint32_t to) noexcept;
  void pad(int copy) noexcept;
  void put_padding(std::uint8_t* at, std::uint32_t unit_count) noexcept;

  std::uint32_t count_ = 0;
  int current_ = 0;
  // Units that the running change touched, and those of them with new entries.
  std::uint32_t touched_from_ = kUnits, touched_to_ = 0;
  std::uint32_t new_from_ = kUnits, new_to_ = 0;
  UnitMap used_;  // live functions and gone ones that are still in the sections
  UnitMap gone_;  // gone since the last change
  bool has_gone_ = false;
  Function functions_[kMaxFunctions];
  // 4 zero bytes end each.
  alignas(64) std::uint8_t copies_[2][kCopySize + 64];
};

}  // namespace jitquill::unwinders
