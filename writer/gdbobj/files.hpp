// The source files that functions come from, each kept once, and their numbers in the line table that is
// being put.
//
// Context   one thread at a time. Nothing is freed before the end: source files are few.
// Promises  never throws; kNone when memory is out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill::gdbobj {

class Files {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Files() noexcept = default;
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // The file's index here, the same for equal names.
  std::uint32_t intern(const char* name) noexcept;
  const char* name(std::uint32_t file) const noexcept;

  // Begins a line table: no file has a number in it yet.
  void start_table() noexcept;
  // Gives the file a number in the table: from 1, in the order of the first calls.
  std::uint32_t number(std::uint32_t file) noexcept;
  // The files of the table, in the order of their numbers.
  std::span<const std::uint32_t> in_table() const noexcept { return {order_, in_table_}; }

 private:
  struct File;

  bool grow() noexcept;
  std::uint32_t& slot_for(const char* name, std::size_t size, std::uint64_t hash) noexcept;

  File** files_ = nullptr;          // by index
  std::uint32_t* order_ = nullptr;  // of the table, by number - 1
  std::uint32_t* slots_ = nullptr;  // open addressing: index + 1, 0 = free; twice as many as files_
  std::uint32_t capacity_ = 0;      // of files_ and order_; a power of two
  std::uint32_t count_ = 0;
  std::uint32_t in_table_ = 0;
  std::uint32_t table_ = 0;
};

}  // namespace jitquill::gdbobj
