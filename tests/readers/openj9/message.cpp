#include <bit>
#include <charconv>
#include <cmath>

#include "tests/readers/openj9/bytes.hpp"
#include "tests/readers/openj9/text.hpp"

namespace openj9_reader {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::uint64_t kMostText = 32'767;

std::string java_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  const std::string sign = std::signbit(value) ? "-" : "";
  value = std::fabs(value);
  if (value == 0) return sign + "0.0";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view all(text, static_cast<std::size_t>(end - text));
  const std::size_t e = all.find('e');
  std::string digits;
  for (const char c : all.substr(0, e))
    if (c != '.') digits += c;
  const int exponent = std::atoi(std::string(all.substr(e + 1)).c_str());
  if (exponent < -3 || exponent >= 7)
    return sign + digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0") + "E" +
           std::to_string(exponent);
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.resize(whole, '0');
  return sign + digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
}

// Bytes of the character at the front; 0: it is none.
std::size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const unsigned more = first < 0x80       ? 0
                        : first >> 5 == 6  ? 1
                        : first >> 4 == 14 ? 2
                        : first >> 3 == 30 ? 3
                                           : 9;
  if (more == 9 || text.size() <= more) return 0;
  std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
  for (unsigned i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >> 6 != 2) return 0;
    code = code << 6 | (byte & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  return code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : more + 1;
}

class Parameters {
 public:
  Parameters(const File& file, const Entry& entry, std::vector<Violation>& violations)
      : file_(file), entry_(entry), data_(entry.parameters, file.header.is_big), violations_(violations) {}

  std::string print(const Template& row) {
    std::string text;
    bool is_missing = false;
    for (const Piece& piece : row.pieces) {
      text += piece.text;
      if (piece.conversion == 0) continue;
      if (entry_.parameters.empty()) {
        text += "???";
        fault(Rule::kParameters, "no parameters");
        continue;
      }
      std::string value;
      is_missing = is_missing || !take(piece, value);
      text += is_missing ? "<missing in trace>" : value;
    }
    if (is_missing) fault(Rule::kParameters, "too short");
    if (at_ < data_.size() && !is_missing) fault(Rule::kParameters, "too long");
    return text;
  }

 private:
  void fault(Rule rule, std::string reason) { violations_.push_back({entry_.at, rule, std::move(reason)}); }
  bool take(const Piece& piece, std::string& value) {
    switch (piece.conversion) {
      case 's':
        return take_string(value);
      case 'S':
        return take_text(value);
      case 'f':
        return take_double(value);
      case 'c':
        if (!data_.has(at_, 1)) return false;
        value = data_.text(at_++, 1);
        return true;
      default:
        return take_number(piece, value);
    }
  }
  bool take_number(const Piece& piece, std::string& value) {
    const unsigned size = piece.conversion == 'p' || piece.size == 0 ? file_.header.pointer_size : piece.size;
    if (!data_.has(at_, size)) return false;
    const std::uint64_t bits = data_.number(at_, size);
    at_ += size;
    const bool is_signed = piece.conversion == 'd' || (size == 8 && piece.conversion != 'p');
    const auto number = size == 4 ? static_cast<std::int64_t>(static_cast<std::int32_t>(bits))
                                  : static_cast<std::int64_t>(bits);
    const bool is_negative = is_signed && number < 0;
    const std::uint64_t amount = is_negative ? 0 - static_cast<std::uint64_t>(number)
                                 : size == 4 ? bits & 0xFFFFFFFF
                                             : bits;
    const bool is_hex = piece.conversion == 'x' || piece.conversion == 'p';
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, amount, is_hex ? 16 : 10).ptr;
    value = std::string(is_hex && !piece.has_prefix ? "0x" : "") + (is_negative ? "-" : "") +
            std::string(text, end);
    if (piece.conversion != 'p') pad(piece, value);
    return true;
  }
  static void pad(const Piece& piece, std::string& value) {
    const auto fill = [&](std::size_t width, char c, bool at_end) {
      if (value.size() < width) value.insert(at_end ? value.size() : 0, width - value.size(), c);
    };
    fill(piece.precision, '0', false);
    fill(piece.width, piece.has_zeros ? '0' : ' ', piece.is_left);
  }
  bool take_double(std::string& value) {
    if (!data_.has(at_, 8)) return false;
    value = java_double(std::bit_cast<double>(data_.u64(at_)));
    at_ += 8;
    return true;
  }
  bool take_string(std::string& value) {
    const std::size_t end = entry_.parameters.find('\0', at_);
    if (end == std::string::npos) return false;
    for (const char c : entry_.parameters.substr(at_, end - at_)) {
      if (static_cast<unsigned char>(c) >= 0x80) fault(Rule::kText, "not ASCII");
      if (static_cast<unsigned char>(c) >= 0x80)
        value += kReplacement;
      else
        value += c;
    }
    check_control(value);
    at_ = end + 1;
    return true;
  }
  bool take_text(std::string& value) {
    const std::uint64_t size = data_.number(at_, 2);
    if (!data_.has(at_, 2) || !data_.has(at_ + 2, size)) return false;
    std::string_view bytes = data_.text(at_ + 2, size);
    at_ += 2 + size;
    if (size > kMostText) fault(Rule::kText, "longer than the formatter takes");
    check_control(bytes);
    while (!bytes.empty()) {
      const std::size_t good = character(bytes);
      if (good == 0) fault(Rule::kText, "not UTF-8");
      value += good == 0 ? kReplacement : bytes.substr(0, good);
      bytes.remove_prefix(good == 0 ? 1 : good);
    }
    return true;
  }
  void check_control(std::string_view text) {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return fault(Rule::kText, "a control character");
    }
  }

  const File& file_;
  const Entry& entry_;
  Source data_;
  std::vector<Violation>& violations_;
  std::uint64_t at_ = 0;
};

}  // namespace

std::string message(const File& file, const Entry& entry, const Template& row,
                    std::vector<Violation>& violations) {
  return Parameters(file, entry, violations).print(row);
}

}  // namespace openj9_reader
