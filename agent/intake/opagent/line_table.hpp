// The line table of OProfile's agent library, copied and made one of ours.
//
// Context   [notify], under the intakes' lock.
// Promises  pointers that cannot be read leave the table out. Memory is given back with the object.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/intake/memory.hpp"
#include "agent/intake/number_table.hpp"
#include "writer/model/code.hpp"

namespace jitquill::intake::opagent {

class LineTable {
 public:
  LineTable() noexcept = default;
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;
  ~LineTable();

  // `count` rows at `from`, of the code at `address`, in any order; of those with one address the last holds,
  // and those that are not of the code are left out. False: no table, or a row without a file's name.
  bool read(const void* from, std::size_t count, std::uint64_t address, std::uint32_t size) noexcept;
  std::span<const Line> all() const noexcept { return lines_.all(); }

 private:
  bool read_file(std::uint64_t from, const char*& file) noexcept;

  Growing<Line> lines_ = {};
  NumberTable<char> files_ = {};  // copies, by where they were
};

}  // namespace jitquill::intake::opagent
