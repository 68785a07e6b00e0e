// A deep copy of a CodeLoad into one block of memory: first counting, then for real, by the same walk.
//
// Context   any; allocates nothing.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "writer/model/code.hpp"

namespace jitquill {

class LoadCopy {
 public:
  // `begin` aligned to 8; null: only counts.
  explicit LoadCopy(unsigned char* begin) noexcept : begin_(begin) {}

  // `keep_file(const char*)` says where a file name is kept.
  template <class KeepFile>
  CodeLoad copy(const CodeLoad& load, KeepFile keep_file) noexcept {
    CodeLoad copied = load;
    copied.lines = keep(load.lines);
    copied.unwinding.events = keep(load.unwinding.events);
    copied.sites = keep(load.sites);
    copied.bytes = load.may_fault ? keep_carefully(load.bytes) : keep(load.bytes);
    copied.unwinding.ready.initial = keep(load.unwinding.ready.initial);
    copied.unwinding.ready.rows = keep(load.unwinding.ready.rows);
    const auto name = keep(std::span<const char>(load.name.data(), load.name.size()));
    copied.name = {name.data(), name.size()};
    copied.file = keep_file(load.file);
    copy_files(load.lines, copied.lines, keep_file);
    copy_inlining(load.inlining, copied.inlining, keep_file);
    return copied;
  }

  // Most lines have no file of their own.
  template <class KeepFile>
  void copy_files(std::span<const Line> from, std::span<const Line> to, KeepFile keep_file) noexcept {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].file == nullptr) continue;
      const char* file = keep_file(from[i].file);
      if (!to.empty()) const_cast<Line&>(to[i]).file = file;  // our own copy, made above
    }
  }

  // Names of inlined functions are kept as file names are: they come again and again.
  template <class KeepText>
  void copy_inlining(const Inlining& from, Inlining& to, KeepText keep_text_of) noexcept {
    to.rows = keep(from.rows);
    to.positions = keep(from.positions);
    for (std::size_t i = 0; i < from.positions.size(); ++i) {
      const char* function = keep_text_of(from.positions[i].function);
      const char* file = keep_text_of(from.positions[i].file);
      if (to.positions.empty()) continue;
      auto& position = const_cast<InlinePosition&>(to.positions[i]);
      position.function = function;
      position.file = file;
    }
  }

  // For the copy() that hands out file names too.
  const char* keep_text(const char* text) noexcept {
    if (text == nullptr) return nullptr;
    return keep(std::span<const char>(text, std::strlen(text) + 1)).data();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  std::span<const std::uint8_t> keep_carefully(std::span<const std::uint8_t> from) noexcept {
    std::uint8_t* const at = begin_ == nullptr ? nullptr : begin_ + size_;
    size_ += from.size();
    if (at == nullptr) return {};
    if (!safe_copy(from, at, kTrap)) count(Counter::code_unreadable);
    return {at, from.size()};
  }

  template <class T>
  std::span<const T> keep(std::span<const T> from) noexcept {
    size_ = (size_ + alignof(T) - 1) & ~(alignof(T) - 1);
    unsigned char* at = begin_ == nullptr ? nullptr : begin_ + size_;
    size_ += from.size_bytes();
    if (at == nullptr || from.empty()) return {};
    std::memcpy(at, from.data(), from.size_bytes());
    return {reinterpret_cast<const T*>(at), from.size()};
  }

  unsigned char* begin_;
  std::size_t size_ = 0;
};

}  // namespace jitquill
