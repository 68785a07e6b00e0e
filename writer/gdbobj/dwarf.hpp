// The numbers of DWARF 4 that our objects use, and the order of the abbreviations.
//
// Context   any; constants.
#pragma once

#include <cstdint>

namespace jitquill::gdbobj {

inline constexpr std::uint16_t kDwarfVersion = 4;  // what every debugger of the last decade reads
inline constexpr std::uint8_t kAddressSize = 8;

// DWARF 4, 7.5.4 to 7.5.6 and 7.12.
enum Tag : std::uint64_t {
  kCompileUnit = 0x11,
  kSubprogram = 0x2E,
  kUnknownTag = 0x4080 /* DW_TAG_lo_user */
};
enum Attribute : std::uint64_t {
  kName = 0x03,
  kStatementList = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kLanguage = 0x13,
  kProducer = 0x25,
  kExternal = 0x3F,
  kRanges = 0x55,
};
enum Form : std::uint64_t {
  kAddress = 0x01,
  kData4 = 0x06,
  kData1 = 0x0B,
  kStringOffset = 0x0E,
  kSectionOffset = 0x17,
  kPresent = 0x19,
};
inline constexpr std::uint8_t kC99 = 0x0C;  // names are shown as they are

// DWARF 4, 7.21.
enum LineOpcode : std::uint8_t {
  kExtended = 0x00,
  kAdvancePc = 0x02,
  kAdvanceLine = 0x03,
  kSetFile = 0x04,
  kSetColumn = 0x05,
  kSetBasicBlock = 0x07,
  kCopy = 0x01,
  kFirstSpecial = 13,  // opcode_base: behind DW_LNS_set_isa
};
enum ExtendedLineOpcode : std::uint8_t { kEndSequence = 0x01, kSetAddress = 0x02 };
inline constexpr std::int8_t kLineBase = -5;  // what gcc and clang choose too
inline constexpr std::uint8_t kLineRange = 14;

}  // namespace jitquill::gdbobj
