// The capabilities of a log: which numbers are in use, and which of them a runtime means by its own.
//
// Numbers are dense, since tools draw a row for each up to the highest: the smallest free one is taken,
// unless events of its last user are later than what its new one begins with (threads' batches come in any
// order).
//
// Context   as the sink that uses it.
// Promises  a runtime's number means one of ours for ever.
// Does not  put records.
#pragma once

#include <cstdint>

#include "writer/eventlog/record.hpp"
#include "writer/eventlog/state_rows.hpp"

namespace jitquill::eventlog {

class Capabilities {
 public:
  struct Row {
    std::uint64_t last_ns = 0;     // of its last user, once that is gone
    std::uint64_t deleted_ns = 0;  // when its runtime deleted it
    std::uint8_t is_in_use = 0;    // by a thread, or by a runtime that has it for good
    std::uint8_t is_there = 0;     // created, not deleted
    std::uint8_t is_enabled = 0;
    template <class Each>
    void each(Each each) const noexcept {
      each(last_ns), each(deleted_ns), each(is_in_use), each(is_there), each(is_enabled);
    }
    template <class Each>
    void each(Each each) noexcept {
      each(last_ns), each(deleted_ns), each(is_in_use), each(is_there), each(is_enabled);
    }
  };

  std::size_t size() const noexcept { return rows_.size(); }
  const Row& operator[](std::size_t number) const noexcept { return rows_[number]; }
  Row* change(std::uint16_t number) noexcept { return rows_.change(number); }

  // For a thread that begins then. kNoCapability: none is left.
  std::uint16_t take(std::uint64_t when_ns) noexcept;
  void give_back(std::uint16_t number, std::uint64_t last_ns) noexcept;

  // Whether a runtime has named any: it says then who works for which.
  bool are_named() const noexcept { return names_.size() != 0; }
  // Ours for the runtime's number; kNoCapability: it was never named.
  std::uint16_t named(std::uint16_t name) const noexcept;
  // Names one: `wish`, a capability in use, if the caller has one, else its own number if that is free, else
  // any. kNoCapability: none is left.
  std::uint16_t name(std::uint16_t name, std::uint16_t wish, std::uint64_t when_ns) noexcept;

  void put_changes(Bytes& state) noexcept { rows_.put_changes(state), names_.put_changes(state); }
  void put_all(Bytes& state) noexcept { rows_.put_all(state), names_.put_all(state); }
  bool apply(ByteSource& state) noexcept {
    first_free_ = 0;
    return rows_.apply(state) && names_.apply(state);
  }

 private:
  struct Name {
    std::uint32_t number = 0;  // ours + 1; 0 = none
    template <class Each>
    void each(Each each) const noexcept {
      each(number);
    }
    template <class Each>
    void each(Each each) noexcept {
      each(number);
    }
  };

  std::uint16_t use(std::size_t number) noexcept;

  StateRows<Row> rows_;
  StateRows<Name> names_;       // by the runtime's number
  std::size_t first_free_ = 0;  // those below it are in use
};

}  // namespace jitquill::eventlog
