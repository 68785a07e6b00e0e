// The worked examples of the specification of the OProfile ABI, spelled as it spells them.
//
// Notes: 0x12345000 is mapped, 0x40 bytes, offset 0, path 6, process 0x1234; then that process exits.
// Samples: cpu 1, running, 0x12345010 three times, 0x12345024 once, counter 0; then cpu 0, stopping, without
// any. Hash map of 11 entries: /tmp/jit/a is 6, /tmp/jit/b is 7, by /tmp, 1, and /tmp/jit, 10. Database of
// pages with 4 entries, 4 of them allocated: (0x10, 1) (0x20, 2) (0x30, 3) (0x40, 4) (0x50, 5) (0x10, 9) were
// inserted.
#pragma once

#include <string_view>

namespace oprofile_reader::examples {

// Notes: words of 4 bytes, little-endian.
inline constexpr std::string_view kNotesLittle4 = R"(
    6f 70 6e 64 01 00 04 00 00 01 02 03 00 50 34 12
    40 00 00 00 00 00 00 00 06 00 00 00 34 12 00 00
    02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 34 12 00 00 10 00 00 00)";
// Of 8 bytes, big-endian.
inline constexpr std::string_view kNotesBig8 = R"(
    6f 70 6e 64 01 00 08 00 07 06 05 04 03 02 01 00
    00 00 00 00 12 34 50 00 00 00 00 00 00 00 00 40
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 06
    00 00 00 00 00 00 12 34 00 00 00 00 00 00 00 02
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 00 12 34 00 00 00 00 00 00 00 10)";
// Of 5 bytes, significance 3 4 2 0 1.
inline constexpr std::string_view kNotesMixed5 = R"(
    6f 70 6e 64 01 00 05 00 03 04 02 00 01 12 00 34
    00 50 00 00 00 40 00 00 00 00 00 00 00 00 00 06
    00 00 00 00 34 12 00 00 00 02 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 34 12 00 00 00 10 00)";
// Samples: 4 bytes, little-endian.
inline constexpr std::string_view kSamplesLittle4 = R"(
    6f 70 73 64 01 00 04 00 00 01 02 03 01 00 00 00
    02 00 00 00 02 00 00 00 10 50 34 12 03 00 00 00
    00 00 00 00 34 12 00 00 24 50 34 12 01 00 00 00
    00 00 00 00 34 12 00 00 00 00 00 00 00 00 00 00
    01 00 00 00)";
// 5 bytes, 3 4 2 0 1.
inline constexpr std::string_view kSamplesMixed5 = R"(
    6f 70 73 64 01 00 05 00 03 04 02 00 01 00 00 00
    01 00 00 00 00 02 00 00 00 00 02 00 12 00 34 10
    50 00 00 00 03 00 00 00 00 00 00 00 00 00 34 12
    12 00 34 24 50 00 00 00 01 00 00 00 00 00 00 00
    00 00 34 12 00 00 00 00 00 00 00 00 00 00 00 00
    00 01 00)";
// Hash map: 4 bytes, little-endian.
inline constexpr std::string_view kHashMapLittle4 = R"(
    6f 70 68 64 01 00 04 00 00 01 02 03 0b 00 00 00
    0e 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00
    00 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00
    ff ff ff ff 00 00 00 00 ff ff ff ff 00 00 00 00
    ff ff ff ff 0a 00 00 00 0a 00 00 00 0c 00 00 00
    0a 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00
    ff ff ff ff 06 00 00 00 01 00 00 00 2f 00 74 6d
    70 00 6a 69 74 00 61 00 62 00)";
// Database: 4 bytes, little-endian.
inline constexpr std::string_view kDatabaseLittle4 = R"(
    6f 70 64 62 01 00 04 00 00 01 02 03 04 00 00 00
    03 00 00 00 02 00 00 00 04 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00
    ff ff ff ff ff ff ff ff 0a 00 00 00 10 00 00 00
    ff ff ff ff 02 00 00 00 20 00 00 00 ff ff ff ff
    00 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00
    00 00 00 00 02 00 00 00 ff ff ff ff ff ff ff ff
    04 00 00 00 40 00 00 00 ff ff ff ff 05 00 00 00
    50 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 00
    ff ff ff ff 00 00 00 00 00 00 00 00 01 00 00 00
    00 00 00 00 01 00 00 00 03 00 00 00 30 00 00 00
    ff ff ff ff 00 00 00 00 00 00 00 00 ff ff ff ff
    00 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00
    00 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff
    00 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00
    00 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 00
    ff ff ff ff 00 00 00 00 00 00 00 00)";
// Empty database: 2 bytes, little-endian.
inline constexpr std::string_view kEmptyDatabaseLittle2 = R"(
    6f 70 64 62 01 00 02 00 00 01 01 00 00 00 ff ff
    04 00 00 00 00 00 00 00 00 00 00 00 ff ff ff ff
    00 00 00 00 ff ff 00 00 00 00 ff ff 00 00 00 00
    ff ff 00 00 00 00)";

}  // namespace oprofile_reader::examples
