// What nongnu libunwind is told: one record for each section, whose table of rows it searches.
//
// libunwind reads its list of records, and their tables, without any lock. So a record is registered once and
// never cancelled (a walk that stands at a cancelled record ends there): a section that ends leaves its
// record covering nothing, and a later section takes it over, the oldest first. A table changes by one store
// of its address. Tables have one length, filled up with rows above everything, so no length changes with
// them. A section's eight tables are used in turn: a walk would have to search a table for as long as eight
// changes take to meet a wrong row, and would then stop there.
//
// Context   under the lock of registry.hpp.
// Promises  records outlive everything. libunwind's caches are flushed after each change, or it would go on
//           using the old rule for a reused address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/unwinders/host_unwinders.hpp"
#include "agent/unwinders/section.hpp"

namespace jitquill::unwinders {

class Records {
 public:
  // The libunwind to tell; another one than before knows of nothing.
  void set(const NongnuLibunwind& libunwind) noexcept { libunwind_ = libunwind; }
  // All records are forgotten, not freed: their libunwind is gone, or another process's.
  void forget() noexcept { *this = Records{}; }
  // False: this is a libunwind that was loaded anew at the old place and has not seen our records.
  bool is_known() const noexcept;
  bool is_there() const noexcept { return libunwind_.is_there(); }
  bool is_same(const NongnuLibunwind& other) const noexcept {
    return libunwind_.register_record == other.register_record;
  }

  // Shows the section's live functions from now on. False: no memory.
  bool publish(Section& section) noexcept;
  // Its start has changed, which all rows are counted from: it gets another record before it loses its own.
  bool replace(Section& section) noexcept;
  void withdraw(Section& section) noexcept;
  void flush() const noexcept { libunwind_.flush(); }

 private:
  Record* take() noexcept;
  void give_back(Record& record) noexcept;

  static constexpr std::size_t kRested = 8;  // a withdrawn record is not taken over at once

  NongnuLibunwind libunwind_;
  Record* first_ = nullptr;  // ever made
  Record* oldest_free_ = nullptr;
  Record* newest_free_ = nullptr;
  std::size_t free_count_ = 0;
};

}  // namespace jitquill::unwinders
