// One JSON text, put together from its parts in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitquill::cli {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view name);
  // Bytes that are no UTF-8 become U+FFFD.
  Json& text(std::string_view value);
  Json& number(std::int64_t value);
  Json& number(std::uint64_t value);
  Json& flag(bool value);
  Json& null();

  const std::string& view() const { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& value(std::string_view written);
  void separate();
  void put_quoted(std::string_view value);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace jitquill::cli
