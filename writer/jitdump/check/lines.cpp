// CODE_DEBUG_INFO: | prefix | code_addr | nr_entry | rows: addr, line, column, file NUL |
#include <algorithm>

#include "writer/jitdump/check/parts.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kCountAt = 24;
constexpr std::uint64_t kFileAt = 16;  // in a row

struct Row {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint32_t line = 0;
  std::string_view file;
};

Row read_row(ByteReader& body) noexcept {
  Row row;
  row.offset = body.offset();
  row.address = body.u64();
  row.line = body.u32();
  (void)body.u32();  // column
  row.file = body.text();
  return row;
}

void check_row(const Row& row, Findings& findings) {
  if (row.line > INT32_MAX) findings.add(row.offset + 8, Rule::kDebugLine, words(row.line));
  const char* wrong = nullptr;
  if (row.file.empty()) wrong = "empty";
  if (row.file == "\xFF") wrong = "FF 00, which stands for the name before";
  if (has_control(row.file)) wrong = "control characters in it";
  if (wrong != nullptr) findings.add(row.offset + kFileAt, Rule::kDebugName, wrong);
}

}  // namespace

bool check_row_count(const RecordView& record, Findings& findings) {
  ByteReader body = record.reader();
  (void)body.u64();
  const std::uint64_t count = body.u64();
  if (body.failed()) {
    findings.add(record.offset + 4, Rule::kDebugSize, "too small for its fields");
    return false;
  }
  if (count == 0) findings.add(record.offset + kCountAt, Rule::kDebugEmpty, "no rows");
  for (std::uint64_t i = 0; i < count; ++i) {
    const Row row = read_row(body);
    if (body.failed()) {
      findings.add(record.offset + kCountAt, Rule::kDebugCount,
                   words(count) + " rows, but only " + words(i) + " fit the record");
      return false;
    }
    check_row(row, findings);
  }
  if (body.left() != 0)
    findings.add(record.offset + 4, Rule::kDebugSize, words(body.left()) + " bytes behind the last row");
  return true;
}

bool check_lines(const RecordView& record, const Code& code, Findings& findings) {
  ByteReader body = record.reader();
  const std::uint64_t address = body.u64();
  const std::uint64_t count = body.u64();
  Row last;
  const std::uint64_t end = code.address + code.size;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Row row = read_row(body);
    if (i == 0 && address != code.address && row.address != code.address) return false;
    if (i == 0 && row.address > code.address)
      findings.add(row.offset, Rule::kDebugFirst, hex_words(row.address) + " is behind the code's start");
    if (row.address < code.address || row.address > end) {
      findings.add(row.offset, Rule::kDebugRange, hex_words(row.address) + " is outside of the code");
    } else if (i > 0 && row.address <= last.address) {
      findings.add(row.offset, Rule::kDebugOrder, hex_words(row.address) + " is not above the row before");
    }
    last = row;
  }
  if (count != 0 && (last.address != end || count < 2))
    findings.add(last.offset, Rule::kDebugSentinel,
                 "the last row must be at the code's end, " + hex_words(end));
  if (address != code.address)
    findings.add(record.offset + 16, Rule::kDebugAddress, hex_words(address) + " is not the load's");
  return true;
}

std::string hex_words(std::uint64_t number) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do {
    digits += kDigits[number & 0xF];
    number >>= 4;
  } while (number != 0);
  digits += "x0";
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace jitquill::jitdump
