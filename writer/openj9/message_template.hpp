// What a trace point says: text with conversions, as OpenJ9's formatter reads them from the format data file.
//
// Context   any; usable while compiling.
// Promises  a text that parse_template() takes does not end the formatter, hang it, or have it print what
//           nobody put.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitquill::openj9 {

enum class ParameterType : std::uint8_t {
  kInt32,    // %d %i
  kUint32,   // %u %x %X
  kInt64,    // %lld
  kUint64,   // %llu %llx: the formatter prints it signed
  kSize,     // %zd %zu %zx: a pointer's bytes
  kPointer,  // %p: the safe choice for addresses
  kDouble,   // %f %g
  kChar,     // %c
  kAscii,    // %s: the formatter knows no other characters there
  kText,     // %.*s: the safe choice for strings
};

// The kinds of trace points, as format data files number them.
enum class PointType : std::uint8_t {
  kEvent = 0,
  kException = 1,
  kEntry = 2,
  kEntryException = 3,
  kExit = 4,
  kExitException = 5,
  kMemory = 6,
  kMemoryException = 7,
  kDebug = 8,
  kDebugException = 9,
  kPerformance = 10,
  kPerformanceException = 11,
};
inline constexpr std::uint8_t kMostPointType = 11;

struct Signature {
  static constexpr std::size_t kMost = 16;

  std::array<ParameterType, kMost> types{};
  std::size_t count = 0;
};

struct Parsed {
  Signature signature;
  const char* fault = nullptr;  // null: the text is good
};

namespace detail {

class TemplateParser {
 public:
  constexpr explicit TemplateParser(std::string_view text) noexcept : text_(text) {}

  constexpr Parsed parse() noexcept {
    if (text_.empty()) return fail("a text is empty");
    while (at_ < text_.size() && parsed_.fault == nullptr) {
      const char c = text_[at_++];
      if (c < 0x20 || c > 0x7E) return fail("a text has a character that is no printable ASCII");
      if (c == '%') take_conversion();
    }
    return parsed_;
  }

 private:
  constexpr Parsed fail(const char* why) noexcept {
    parsed_.fault = why;
    return parsed_;
  }
  constexpr char next() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  constexpr bool take(char c) noexcept {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  constexpr bool take_digits() noexcept {  // false: more than the formatter can do with
    constexpr std::size_t kMostDigits = 3;
    const std::size_t start = at_;
    while (next() >= '0' && next() <= '9') ++at_;
    return at_ - start <= kMostDigits;
  }
  constexpr void take_conversion() noexcept {
    const bool is_behind_0x = at_ >= 3 && text_[at_ - 3] == '0' && (text_[at_ - 2] | 0x20) == 'x';
    if (take('%')) return;
    (void)take('-');
    const bool has_zeros = next() == '0';
    if (!take_digits()) return void(fail("a width has more than three digits"));
    bool has_length = false;
    if (take('.') && !(has_length = take('*')) && !take_digits())
      return void(fail("a precision has more than three digits"));
    const bool is_long = take('l');
    const bool is_long_long = is_long && take('l');
    const bool is_size = !is_long && take('z');
    take_letter(has_length, is_long_long, is_size, has_zeros && !is_behind_0x);
  }
  constexpr void take_letter(bool has_length, bool is_long_long, bool is_size, bool is_odd_hex) noexcept {
    const auto integer = [&](ParameterType narrow, ParameterType wide) {
      add(is_size ? ParameterType::kSize : is_long_long ? wide : narrow);
    };
    const char letter = next();
    ++at_;
    if (has_length && letter != 's') return void(fail("%.* is followed by no s"));
    if ((letter == 'x' || letter == 'X') && is_odd_hex)
      return void(fail("zeros go in front of the formatter's 0x: write 0x%08x"));
    if (letter == 'd' || letter == 'i') return integer(ParameterType::kInt32, ParameterType::kInt64);
    if (letter == 'u' || letter == 'x' || letter == 'X')
      return integer(ParameterType::kUint32, ParameterType::kUint64);
    if (letter == 's') return add(has_length ? ParameterType::kText : ParameterType::kAscii);
    if (letter == 'p') return add(ParameterType::kPointer);
    if (letter == 'f' || letter == 'g') return add(ParameterType::kDouble);
    if (letter == 'c') return add(ParameterType::kChar);
    fail("a conversion that the formatter does not know");
  }
  constexpr void add(ParameterType type) noexcept {
    if (parsed_.signature.count == Signature::kMost) return void(fail("more than 16 parameters"));
    parsed_.signature.types[parsed_.signature.count++] = type;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Parsed parsed_;
};

}  // namespace detail

constexpr Parsed parse_template(std::string_view text) noexcept {
  return detail::TemplateParser(text).parse();
}

// Of a component's name: what a line of the file can hold, and an entry of 255 bytes.
constexpr bool is_component_name(std::string_view name) noexcept {
  constexpr std::size_t kMostName = 32;
  if (name.empty() || name.size() > kMostName) return false;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && (c < '0' || c > '9')) return false;
  }
  return true;
}

}  // namespace jitquill::openj9
