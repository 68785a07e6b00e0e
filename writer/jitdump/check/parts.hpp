// The parts of a function's group, taken apart and judged. Private to writer/jitdump/check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "writer/jitdump/check/finding.hpp"
#include "writer/jitdump/check/record_walk.hpp"

namespace jitquill::jitdump {

// Decimal and hexadecimal words for reasons.
inline std::string words(std::uint64_t number) {
  return std::to_string(number);
}
std::string hex_words(std::uint64_t number);

inline bool has_control(std::string_view text) noexcept {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return true;
  }
  return false;
}

// The code that a group belongs to.
struct Code {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

// Lines: false where they are not this code's at all. `record` must have passed check_row_count().
bool check_lines(const RecordView& record, const Code& code, Findings& findings);
// What can be said of them without the code. False: the rows cannot be gone through.
bool check_row_count(const RecordView& record, Findings& findings);

struct Tables {
  std::uint64_t offset = 0;    // of the record
  std::uint64_t size = 0;      // U: .eh_frame and its header
  std::uint64_t hdr_size = 0;  // H
  std::uint64_t mapped = 0;    // M
  std::span<const std::uint8_t> blob;
  std::uint64_t blob_offset = 0;
  // From a twin up to the code, where the tables describe the code as seen from a twin too; 0 = they do not.
  std::uint64_t twin_distance = 0;
};
// Nothing if its fields do not fit the record.
std::optional<Tables> read_tables(const RecordView& record, Findings& findings);
void check_tables(Tables& tables, const Code& code, Findings& findings);

// Call frame instructions of one FDE, behind those of its CIE.
void check_frames(ByteReader initial, ByteReader instructions, std::uint64_t range, Findings& findings);

}  // namespace jitquill::jitdump
