// The symbol files of one descriptor that are known: found by their entry in its list, and the newest first.
//
// Context   under the intakes' lock.
// Promises  finding, adding and removing take constant time on average; what is added stays where it is.
//           Without any it has no memory. Has no destructor, as Growing (memory.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "agent/intake/memory.hpp"
#include "agent/intake/number_table.hpp"

namespace jitquill::gdb {

struct Symfile {
  std::uint64_t entry;
  std::uint64_t next;  // as the entry has it, as are these two
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t walk = 0;              // last one that saw it
  std::uint64_t since_ns = 0;          // it may have run from then on; 0 = it is told at once
  std::uint8_t* copy = nullptr;        // while it waits for its code to become final
  std::uint64_t* functions = nullptr;  // told addresses
  std::size_t function_count = 0;
  Symfile* newer = nullptr;
  Symfile* older = nullptr;
};

class SymfileList {
 public:
  std::uint64_t descriptor = 0;
  std::size_t owed = 0;  // entries that may be read for looks since its last whole walk

  std::size_t size() const noexcept { return by_entry_.size(); }
  Symfile* find(std::uint64_t entry) const noexcept { return by_entry_.find(entry); }

  // Null: no memory.
  Symfile* add(const Symfile& symfile) noexcept {
    void* const room = intake::memory().allocate(sizeof(Symfile));
    if (room == nullptr) return nullptr;
    auto* const added = new (room) Symfile(symfile);
    if (!by_entry_.put(added->entry, added)) {
      intake::memory().free(room);
      return nullptr;
    }
    added->older = newest_;
    if (newest_ != nullptr) newest_->newer = added;
    newest_ = added;
    return added;
  }
  void remove(Symfile& symfile) noexcept {
    by_entry_.erase(symfile.entry);
    if (by_entry_.size() == 0) by_entry_.release();
    (symfile.newer != nullptr ? symfile.newer->older : newest_) = symfile.older;
    if (symfile.older != nullptr) symfile.older->newer = symfile.newer;
    intake::memory().free(&symfile);
  }
  // see() may remove what it sees.
  template <class See>
  void for_each(See see) {
    for (Symfile* at = newest_; at != nullptr;) {
      Symfile* const older = at->older;
      see(*at);
      at = older;
    }
  }

 private:
  intake::NumberTable<Symfile> by_entry_;
  Symfile* newest_ = nullptr;
};

}  // namespace jitquill::gdb
