#include "agent/cli/json.hpp"

#include <cstddef>

namespace jitquill::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the UTF-8 character at the front; 0 if there is none.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool is_overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool is_outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return is_overlong || is_outside ? 0 : size;
}

}  // namespace

void Json::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = false;
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

Json& Json::value(std::string_view written) {
  separate();
  text_ += written;
  needs_comma_ = true;
  return *this;
}

Json& Json::key(std::string_view name) {
  separate();
  put_quoted(name);
  text_ += ':';
  return *this;
}

Json& Json::text(std::string_view value) {
  separate();
  put_quoted(value);
  needs_comma_ = true;
  return *this;
}

void Json::put_quoted(std::string_view value) {
  constexpr char kDigits[] = "0123456789abcdef";
  text_ += '"';
  while (!value.empty()) {
    const std::size_t size = character_size(value);
    const auto byte = static_cast<unsigned char>(value[0]);
    if (size == 0) {
      text_ += kReplacement;
    } else if (byte == '"' || byte == '\\') {
      text_ += {'\\', value[0]};
    } else if (byte < 0x20) {
      text_ += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 0xF]};
    } else {
      text_ += value.substr(0, size);
    }
    value.remove_prefix(size == 0 ? 1 : size);
  }
  text_ += '"';
}

Json& Json::number(std::int64_t value) {
  return this->value(std::to_string(value));
}
Json& Json::number(std::uint64_t value) {
  return this->value(std::to_string(value));
}
Json& Json::flag(bool value) {
  return this->value(value ? "true" : "false");
}
Json& Json::null() {
  return value("null");
}

}  // namespace jitquill::cli
