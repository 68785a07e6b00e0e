#include "agent/intake/opagent/line_table.hpp"

#include <algorithm>

#include "agent/base/safe_copy.hpp"
#include "agent/intake/text.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::intake::opagent {
namespace {

// struct debug_line_info of opagent.h, where pointers have 64 bits.
struct Row {
  std::uint64_t address;
  std::uint32_t line;
  std::uint32_t number;  // padding there; here the row's place, so that equal addresses keep their order
  std::uint64_t file;    // NUL-terminated
};
static_assert(sizeof(Row) == 24);

constexpr std::size_t kMostRows = 1u << 20;

}  // namespace

LineTable::~LineTable() {
  lines_.release();
  files_.for_each([](char& file) { memory().free(&file); });
  files_.release();
}

bool LineTable::read(const void* from, std::size_t count, std::uint64_t address,
                     std::uint32_t size) noexcept {
  if (count > kMostRows || from == nullptr) return false;
  Block room(count * sizeof(Row));
  if (!room || !safe_copy({static_cast<const std::uint8_t*>(from), count * sizeof(Row)}, room.data(), 0))
    return false;
  const std::span<Row> rows(reinterpret_cast<Row*>(room.data()), count);
  std::uint32_t number = 0;
  for (Row& row : rows) row.number = number++;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.address != b.address ? a.address < b.address : a.number < b.number;
  });
  for (const Row& row : rows) {
    if (row.address - address >= size) continue;
    const bool is_line = row.line <= 0x7FFFFFFF;  // perf's numbers have a sign
    Line line{static_cast<std::uint32_t>(row.address - address), is_line ? row.line : 0, 0, nullptr};
    if (!read_file(row.file, line.file)) return false;
    const bool is_another = lines_.size() == 0 || lines_[lines_.size() - 1].offset != line.offset;
    if (!is_another) lines_[lines_.size() - 1] = line;
    if (is_another && !lines_.push(line)) return false;
  }
  return true;
}

// Most rows share few names. One without a name would be taken for one of the row in front of it.
bool LineTable::read_file(std::uint64_t from, const char*& file) noexcept {
  file = from == 0 ? nullptr : files_.find(from);
  if (file != nullptr) return true;
  auto text = copied_text(reinterpret_cast<const char*>(from), kNameToRead);
  if (!text || text->size == 0) return false;
  auto* const copy = reinterpret_cast<char*>(text->block.give_away());
  if (!files_.put(from, copy)) {
    memory().free(copy);
    return false;
  }
  file = copy;
  return true;
}

}  // namespace jitquill::intake::opagent
