// Finds a pointer by a number: ids and addresses of what an intake remembers.
//
// Context   [notify], under the intakes' lock.
// Promises  each operation takes constant time on average; put() says when there is no memory, and nothing
//           has changed then. Has no destructor, as Growing (memory.hpp).
// Does not  hold the number 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/intake/hash.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::intake {

template <class T>
class NumberTable {
 public:
  T* find(std::uint64_t number) const noexcept {
    const Entry* const entry = room_ == 0 ? nullptr : &entries_[place_of(number)];
    return entry != nullptr && entry->number == number ? entry->value : nullptr;
  }
  // Takes the place of what was there under this number.
  bool put(std::uint64_t number, T* value) noexcept {
    if (count_ * 2 >= room_ && !grow()) return false;
    Entry& entry = entries_[place_of(number)];
    if (entry.number == 0) ++count_;
    entry = {number, value};
    return true;
  }
  void erase(std::uint64_t number) noexcept {
    if (find(number) == nullptr) return;
    std::size_t hole = place_of(number);
    // What was put behind it because its own place was taken moves up.
    for (std::size_t at = next(hole); entries_[at].number != 0; at = next(at)) {
      const std::size_t wanted = first_place_of(entries_[at].number);
      if (((at - wanted) & (room_ - 1)) < ((at - hole) & (room_ - 1))) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --count_;
  }
  std::size_t size() const noexcept { return count_; }
  template <class See>
  void for_each(See see) const noexcept {
    for (std::size_t i = 0; i < room_; ++i) {
      if (entries_[i].number != 0) see(*entries_[i].value);
    }
  }
  void release() noexcept {
    memory().free(entries_);
    *this = {};
  }

 private:
  struct Entry {
    std::uint64_t number;
    T* value;
  };

  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (room_ - 1); }
  std::size_t first_place_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(mixed(number)) & (room_ - 1);
  }
  // Of the number, or where it would go.
  std::size_t place_of(std::uint64_t number) const noexcept {
    std::size_t at = first_place_of(number);
    while (entries_[at].number != 0 && entries_[at].number != number) at = next(at);
    return at;
  }
  bool grow() noexcept {
    NumberTable larger;
    larger.room_ = room_ == 0 ? 64 : room_ * 2;
    larger.entries_ = static_cast<Entry*>(memory().allocate(larger.room_ * sizeof(Entry)));
    if (larger.entries_ == nullptr) return false;
    std::memset(static_cast<void*>(larger.entries_), 0, larger.room_ * sizeof(Entry));
    for (std::size_t i = 0; i < room_; ++i) {
      if (entries_[i].number != 0) larger.entries_[larger.place_of(entries_[i].number)] = entries_[i];
    }
    larger.count_ = count_;
    memory().free(entries_);
    *this = larger;
    return true;
  }

  Entry* entries_ = nullptr;
  std::size_t room_ = 0;  // a power of two, at least twice count_
  std::size_t count_ = 0;
};

}  // namespace jitquill::intake
