// Traces made by hand for tests of the reader: little-endian, pointers of 8 bytes, behind the header of a
// trace that the formatter has printed.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace openj9_reader::made {

template <class Value>
std::string number(Value value, unsigned size) {
  std::string bytes;
  for (unsigned i = 0; i < size; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> 8 * i);
  return bytes;
}

inline void patch(std::string& bytes, std::uint64_t at, std::string_view with) {
  bytes.replace(at, with.size(), with);
}

inline std::string with_length(std::string body) {
  const std::size_t size = body.size() + 1;
  body += static_cast<char>(size & 0xFF);
  if (size > 0xFF) body += std::string(2, '\0') + static_cast<char>(size >> 8) + '\x04';
  return body;
}

// With the number as it lies there: 257 more than the component's, but for internal ones.
inline std::string entry(unsigned raw_number, std::uint64_t ticks, std::string_view component,
                         std::string_view parameters = {}) {
  const std::string id{'\0', static_cast<char>(raw_number >> 8), static_cast<char>(raw_number)};
  return with_length(id + number(ticks, 4) + number(component.size(), 4) + std::string(component) +
                     std::string(parameters));
}
inline std::string wrap(std::uint32_t old_upper) {
  return std::string(3, '\0') + number(old_upper, 4) + '\x08';
}
inline std::string lost(std::uint32_t records) {
  return std::string("\0\1\0", 3) + number(records, 4) + '\x08';
}

struct Record {
  std::uint64_t newest_ticks = 0, first_ticks = 0;
  std::uint64_t written_ticks = 0, written_ms = 0;
  std::uint64_t thread = 0x1000;
  std::string name = "main";
  std::string entries;  // one behind the other

  std::string bytes(std::size_t size) const {
    const std::size_t first = 64 + name.size() + 1;
    std::string all = number(newest_ticks, 8) + number(first_ticks, 8) + number(written_ticks, 8) +
                      number(written_ms, 8) + number(thread, 8) + number(0, 8) + number(0, 8) +
                      number(first, 4) + number(first + entries.size(), 4) + name + '\0' + '\0' + entries;
    all.resize(size, '\0');
    return all;
  }
};

}  // namespace openj9_reader::made
