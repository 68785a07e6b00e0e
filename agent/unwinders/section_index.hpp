// Sections by the addresses that they own, and lists of those that own none.
//
// Context   under the lock of registry.hpp. Memory from mmap; it is never given back, but that of a grown
//           index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/unwinders/section.hpp"

namespace jitquill::unwinders {

class SectionIndex {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t size() const noexcept { return size_; }
  Section& operator[](std::size_t index) const noexcept { return *sections_[index]; }
  Section** begin() const noexcept { return sections_; }
  Section** end() const noexcept { return sections_ + size_; }

  // The section with the highest start at or below the address; kNone: the address is below all.
  std::size_t owner_of(std::uint64_t address) const noexcept;

  // Makes sure that the next insert() succeeds. False: no memory.
  bool can_insert() noexcept;
  void insert(std::size_t index, Section& section) noexcept;
  void erase(std::size_t index) noexcept;
  void put(std::size_t index, Section& section) noexcept { sections_[index] = &section; }

 private:
  Section** sections_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

class SectionList {
 public:
  Section* first() const noexcept { return first_; }
  bool empty() const noexcept { return first_ == nullptr; }
  void push(Section& section) noexcept {
    section.next = first_;
    first_ = &section;
  }
  Section* pop() noexcept {
    Section* const section = first_;
    if (section != nullptr) first_ = section->next;
    return section;
  }
  // Calls with(section) for each; those for which it says false leave the list.
  template <class With>
  void keep_if(With with) noexcept {
    for (Section** at = &first_; *at != nullptr;) {
      Section& section = **at;
      Section* const next = section.next;
      if (with(section)) {
        at = &section.next;
      } else {
        *at = next;
      }
    }
  }

 private:
  Section* first_ = nullptr;
};

}  // namespace jitquill::unwinders
