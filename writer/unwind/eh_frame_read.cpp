#include "writer/unwind/eh_frame_read.hpp"

#include <cstring>
#include <iterator>
#include <string_view>

namespace jitquill::unwind {
namespace {

// How a pointer is encoded (LSB): low four bits the form, then what it is relative to, the top bit
// "indirect".
constexpr std::uint8_t kOmitted = 0xFF;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kFormMask = 0x0F;
constexpr std::uint8_t kRelationMask = 0x70;
constexpr std::uint8_t kPcRelative = 0x10;
constexpr std::uint8_t kTextRelative = 0x20;

// Reads forward through a part of the section; a read beyond its end gives 0 and is remembered.
class Reader {
 public:
  Reader(std::span<const std::uint8_t> part, std::uint64_t address) noexcept
      : part_(part), address_(address) {}

  bool failed() const noexcept { return failed_; }
  std::uint64_t address() const noexcept { return address_ + at_; }
  std::span<const std::uint8_t> rest() const noexcept { return part_.subspan(at_); }

  template <class T>
  T fixed() noexcept {
    T value{};
    if (std::uint8_t const* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint64_t uleb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0 || failed_) return value;
    }
  }
  std::int64_t sleb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) != 0 && !failed_) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }
  // Ended by NUL.
  std::string_view text() noexcept {
    const auto from = rest();
    const void* end = from.empty() ? nullptr : std::memchr(from.data(), 0, from.size());
    if (end == nullptr) {
      failed_ = true;
      return {};
    }
    const auto size = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - from.data());
    at_ += size + 1;
    return {reinterpret_cast<const char*>(from.data()), size};
  }
  // Nothing where the encoding is of a kind that we cannot resolve.
  std::optional<std::uint64_t> pointer(std::uint8_t encoding, std::uint64_t text_address) noexcept {
    const std::uint64_t field = address();
    const std::uint8_t relation = encoding & kRelationMask;
    if ((encoding & kIndirect) != 0) return std::nullopt;
    const auto value = number(encoding & kFormMask);
    if (!value) return std::nullopt;
    if (relation == 0) return *value;
    if (relation == kPcRelative) return *value + field;
    if (relation == kTextRelative && text_address != 0) return *value + text_address;
    return std::nullopt;
  }
  std::optional<std::uint64_t> number(std::uint8_t form) noexcept {
    switch (form) {
      case 0x00:
      case 0x04:
      case 0x0C:
        return fixed<std::uint64_t>();
      case 0x01:
        return uleb128();
      case 0x02:
        return fixed<std::uint16_t>();
      case 0x03:
        return fixed<std::uint32_t>();
      case 0x09:
        return static_cast<std::uint64_t>(sleb128());
      case 0x0A:
        return static_cast<std::uint64_t>(std::int64_t{fixed<std::int16_t>()});
      case 0x0B:
        return static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()});
      default:
        return std::nullopt;
    }
  }
  void skip(std::uint64_t count) noexcept { (void)take(count); }
  // The next `count` bytes as a cursor of their own.
  Reader part(std::uint64_t count) noexcept {
    const std::uint64_t start = address();
    const std::uint8_t* from = take(count);
    return from == nullptr ? Reader({}, start) : Reader({from, static_cast<std::size_t>(count)}, start);
  }

 private:
  const std::uint8_t* take(std::uint64_t count) noexcept {
    if (failed_ || count > part_.size() - at_) {
      failed_ = true;
      return nullptr;
    }
    const std::uint8_t* from = part_.data() + at_;
    at_ += static_cast<std::size_t>(count);
    return from;
  }

  std::span<const std::uint8_t> part_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

// The body of the entry at the cursor, behind its length; nothing at the end of the section.
std::optional<Reader> next_entry(Reader& section) noexcept {
  std::uint64_t length = section.fixed<std::uint32_t>();
  if (length == 0xFFFFFFFF) length = section.fixed<std::uint64_t>();
  if (section.failed() || length == 0) return std::nullopt;
  Reader entry = section.part(length);
  return section.failed() ? std::nullopt : std::optional(entry);
}

struct Cie {
  ReadyCfi cfi;
  std::uint8_t fde_encoding = 0;
  bool has_augmentation_data = false;
};

bool read_augmentation(Reader& cie, std::string_view letters, Cie& out) noexcept {
  if (letters.empty()) return true;
  if (letters.front() != 'z') return false;  // without a length, unknown letters cannot be skipped
  out.has_augmentation_data = true;
  Reader data = cie.part(cie.uleb128());
  for (const char letter : letters) {  // 'z' itself is none of these
    if (letter == 'R') out.fde_encoding = data.fixed<std::uint8_t>();
    if (letter == 'L') data.skip(1);
    if (letter == 'S') out.cfi.is_signal_frame = true;
    if (letter == 'P') {
      const auto encoding = data.fixed<std::uint8_t>();
      if (encoding != kOmitted && !data.number(encoding & kFormMask)) return false;
    }
  }
  return !data.failed();
}

// | id 0 | version | augmentation, NUL | code align | data align | return address | [data] | instructions |
bool read_cie(Reader cie, Cie& out) noexcept {
  if (cie.fixed<std::uint32_t>() != 0) return false;
  const auto version = cie.fixed<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const std::string_view letters = cie.text();
  out.cfi.code_alignment = cie.uleb128();
  out.cfi.data_alignment = cie.sleb128();
  out.cfi.return_address = version == 1 ? cie.fixed<std::uint8_t>() : cie.uleb128();
  if (cie.failed() || !read_augmentation(cie, letters, out)) return false;
  out.cfi.initial = cie.rest();
  return !cie.failed();
}

// | distance back to the CIE | pc_begin | pc_range | [data] | instructions |
std::optional<FoundFde> read_fde(Reader fde, std::span<const std::uint8_t> section,
                                 std::uint64_t section_address, std::uint64_t text_address) noexcept {
  const std::uint64_t id_at = fde.address() - section_address;
  const std::uint64_t distance = fde.fixed<std::uint32_t>();
  if (fde.failed() || distance == 0 || distance > id_at) return std::nullopt;
  const std::uint64_t cie_at = id_at - distance;
  Reader from_cie(section.subspan(static_cast<std::size_t>(cie_at)), section_address + cie_at);
  const auto cie_entry = next_entry(from_cie);
  Cie cie;
  if (!cie_entry || !read_cie(*cie_entry, cie)) return std::nullopt;

  const auto pc_begin = fde.pointer(cie.fde_encoding, text_address);
  const auto pc_size = fde.number(cie.fde_encoding & kFormMask);
  if (!pc_begin || !pc_size) return std::nullopt;
  if (cie.has_augmentation_data) fde.skip(fde.uleb128());
  if (fde.failed()) return std::nullopt;
  FoundFde found{*pc_begin, *pc_size, cie.cfi, 0};
  found.cfi.rows = fde.rest();
  return found;
}

// The operands of a call frame instruction (DWARF 5, 7.24), one letter each: b 1 byte, h 2, w 4, u ULEB128, s
// SLEB128, x a block with its length. Null: unknown, or tied to an address (DW_CFA_set_loc).
const char* operands_of(std::uint8_t opcode) noexcept {
  if ((opcode & 0xC0) == 0x80) return "u";
  if ((opcode & 0xC0) != 0) return "";
  static constexpr const char* kOperands[] = {"",   nullptr, "b",  "h", "w",  "uu", "u", "u",
                                              "u",  "uu",    "",   "",  "uu", "u",  "u", "x",
                                              "ux", "us",    "us", "s", "uu", "us", "ux"};
  if (opcode < std::size(kOperands)) return kOperands[opcode];
  return opcode == 0x2E ? "u" : nullptr;  // DW_CFA_GNU_args_size
}

bool is_movable(std::span<const std::uint8_t> instructions) noexcept {
  Reader cursor(instructions, 0);
  while (!cursor.rest().empty()) {
    const char* operand = operands_of(cursor.fixed<std::uint8_t>());
    if (operand == nullptr) return false;
    for (; *operand != 0; ++operand) {
      switch (*operand) {
        case 'b':
          cursor.skip(1);
          break;
        case 'h':
          cursor.skip(2);
          break;
        case 'w':
          cursor.skip(4);
          break;
        case 'x':
          cursor.skip(cursor.uleb128());
          break;
        default:
          (void)cursor.uleb128();
          break;  // SLEB128 is as long
      }
    }
    if (cursor.failed()) return false;
  }
  return true;
}

}  // namespace

namespace {

bool is_of(const FoundFde& fde, std::uint64_t address, std::uint64_t size) noexcept {
  return fde.pc_begin == address && size <= fde.pc_size && is_movable(fde.cfi.initial) &&
         is_movable(fde.cfi.rows);
}

}  // namespace

std::optional<FoundFde> FdeWalk::next() noexcept {
  while (at_ < section_.size()) {
    const std::uint64_t address = address_ + at_;
    Reader cursor(section_.subspan(at_), address);
    const auto entry = next_entry(cursor);
    at_ = entry ? static_cast<std::size_t>(cursor.address() - address_) : section_.size();
    if (!entry) break;
    auto fde = read_fde(*entry, section_, address_, text_address_);
    if (!fde) continue;  // of a CIE, too
    fde->address = address;
    return fde;
  }
  return std::nullopt;
}

std::optional<FoundFde> FdeFinder::find(std::uint64_t address, std::uint64_t size) noexcept {
  const FdeWalk from = walk_;
  while (const auto fde = walk_.next()) {
    if (is_of(*fde, address, size)) return fde;
  }
  // Once more from the front; what lies behind `from` is looked at twice only where nothing is found.
  walk_ = FdeWalk(section_, address_, text_address_);
  while (const auto fde = walk_.next()) {
    if (is_of(*fde, address, size)) return fde;
  }
  walk_ = from;
  return std::nullopt;
}

std::optional<FoundFde> find_fde(std::span<const std::uint8_t> section, std::uint64_t section_address,
                                 std::uint64_t address, std::uint64_t size) noexcept {
  FdeWalk walk(section, section_address);
  while (const auto fde = walk.next()) {
    if (is_of(*fde, address, size)) return fde;
  }
  return std::nullopt;
}

}  // namespace jitquill::unwind
