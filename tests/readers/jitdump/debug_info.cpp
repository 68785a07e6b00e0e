#include "tests/readers/jitdump/debug_info.hpp"

#include <algorithm>

namespace jitdump_reader {
namespace {

constexpr std::uint64_t kRowFixedBytes = 16;

bool parse_row(Cursor& body, DebugInfo& info, Violations& found) {
  const std::uint64_t at = body.offset();
  Line row;
  row.address = body.u64();
  row.line = body.u32();
  row.column = body.u32();
  row.file = body.text();
  if (body.failed()) return false;
  if (row.file.empty() || has_control(row.file) || row.file == "\xFF") {
    found.push_back({at + kRowFixedBytes, Rule::kDebugName,
                     "empty, a control character, or the mark FF 00 (unknown to perf 6.1)"});
  }
  if (row.line > INT32_MAX) found.push_back({at + 8, Rule::kDebugLine, "negative"});
  info.lines.push_back(std::move(row));
  info.line_offsets.push_back(at);
  return true;
}

void check_ends(const DebugInfo& info, std::uint64_t address, std::uint64_t end, Violations& found) {
  if (info.lines.empty()) return;
  if (info.lines.front().address > address) {
    found.push_back(
        {info.line_offsets.front(), Rule::kDebugFirst, "the first row is not at the code's start"});
  }
  if (info.lines.back().address != end || info.lines.size() < 2) {
    found.push_back(
        {info.line_offsets.back(), Rule::kDebugSentinel, "the last row is not at the code's end"});
  }
}

}  // namespace

// [prefix][code_addr][nr_entry][rows: addr, line, column, file NUL]
std::optional<DebugInfo> parse_debug_info(std::uint64_t record, Cursor body, Violations& found) {
  DebugInfo info;
  info.offset = record;
  info.address = body.u64();
  const std::uint64_t count = body.u64();
  if (body.failed()) {
    found.push_back({record + 4, Rule::kDebugSize, "too small for its fields"});
    return std::nullopt;
  }
  if (count == 0) found.push_back({record + 24, Rule::kDebugEmpty, "no rows"});
  for (std::uint64_t row = 0; row < count; ++row) {
    if (parse_row(body, info, found)) continue;
    found.push_back({record + 24, Rule::kDebugCount,
                     std::to_string(count) + " rows, but row " + std::to_string(row) + " leaves the record"});
    return std::nullopt;
  }
  if (body.left() != 0) {
    found.push_back(
        {record + 4, Rule::kDebugSize, std::to_string(body.left()) + " bytes behind the last row"});
  }
  return info;
}

// The record's own address says whose the rows are: with a stranger's, nothing else could hold.
bool check_debug_info(const DebugInfo& info, std::uint64_t address, std::uint64_t size, Violations& found) {
  const bool other_rows = !info.lines.empty() && info.lines.front().address != address;
  if (info.address != address && other_rows) {
    found.push_back({info.offset, Rule::kGroupStranger, "lines of other code than the load's"});
    return false;
  }
  if (info.address != address) found.push_back({info.offset + 16, Rule::kDebugAddress, "is not the load's"});
  const std::uint64_t end = address + size;
  for (std::size_t i = 0; i < info.lines.size(); ++i) {
    const std::uint64_t at = info.lines[i].address;
    if (at < address || at > end) {
      found.push_back({info.line_offsets[i], Rule::kDebugRange, "row outside the code"});
    } else if (i > 0 && at <= info.lines[i - 1].address) {
      found.push_back({info.line_offsets[i], Rule::kDebugOrder, "row not above the one in front"});
    }
  }
  check_ends(info, address, end, found);
  return true;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace jitdump_reader
