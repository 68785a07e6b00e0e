// Records that every file of a log needs, by what they are of: the newest of each.
//
// Context   as the sink that uses it.
// Promises  put() puts them in the order in which they came first. They survive the process by put_changes(),
//           put_all() and apply(). Out of memory a record is not kept.
// Does not  know what they say.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/bytes/number_table.hpp"

namespace jitquill::eventlog {

class KeptRecords {
 public:
  void keep(std::uint64_t key, std::span<const std::uint8_t> record) noexcept;
  void drop(std::uint64_t key) noexcept { keep(key, {}); }
  bool has(std::uint64_t key) const noexcept { return !record(key).empty(); }
  std::span<const std::uint8_t> record(std::uint64_t key) const noexcept;

  // put(record, key) of each.
  template <class Put>
  void each(Put put) const noexcept {
    for (const Row& row : rows_.all()) {
      if (row.size != 0) put(bytes_of(row), row.key);
    }
  }

  // | records: count, {key, size, bytes} |, numbers as uleb128; size 0 = it is dropped.
  void put_changes(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  struct Row {
    std::uint64_t key;
    std::uint64_t at;
    std::uint32_t size;
    std::uint32_t is_changed;
  };
  std::span<const std::uint8_t> bytes_of(const Row& row) const noexcept {
    return bytes_.all().subspan(row.at, row.size);
  }
  void put_row(const Row& row, Bytes& state) const noexcept;
  void forget_changes() noexcept;
  void tidy() noexcept;

  GrowingArray<Row> rows_;
  GrowingArray<std::uint32_t> changed_;
  NumberTable by_key_;
  GrowingArray<std::uint8_t> bytes_;
  std::size_t unused_ = 0;  // of bytes_
};

}  // namespace jitquill::eventlog
