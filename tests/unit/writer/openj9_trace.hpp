// A trace in memory, as the writer makes it and as the reader, which knows nothing of our tables, prints it.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/readers/openj9/formatter.hpp"
#include "tests/readers/openj9/text.hpp"
#include "tests/support/temp_folder.hpp"
#include "writer/openj9/dat.hpp"
#include "writer/openj9/header.hpp"

namespace jitquill::openj9::tests {

template <std::endian kOrder, unsigned kPointer>
struct For {
  static constexpr Target kTarget{kOrder, kPointer};
};
using Targets = testing::Types<For<std::endian::little, 8>, For<std::endian::little, 4>,
                               For<std::endian::big, 8>, For<std::endian::big, 4>>;

// Began at 03:04:05 of some day, 5 s after the machine.
inline constexpr Clock kClock{5'000'000'000, 0x19B7CA98C88};

inline std::string_view chars(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.view().data()), bytes.size()};
}

inline std::string own_dat() {
  Bytes dat;
  put_dat(dat);
  return std::string(chars(dat));
}

// Where OpenJ9's formatter is.
inline void expect_as_formatted(std::string_view trace, const openj9_reader::File& file,
                                const openj9_reader::Text& text) {
  const test_support::TempFolder folder;
  std::ofstream(folder.file("trace"), std::ios::binary) << trace;
  std::ofstream(folder.file("dat")) << own_dat();
  openj9_reader::expect_as_formatted(folder.file("trace"), folder.file("dat"), file, text.text);
}

inline openj9_reader::Catalogue own_templates() {
  openj9_reader::Catalogue catalogue;
  openj9_reader::add_templates(own_dat(), catalogue);
  EXPECT_EQ(describe(catalogue.violations), "");
  return catalogue;
}

template <Target kTarget>
std::string header(std::uint32_t record_size, Type type = Type::kExternal, const Clock& clock = kClock) {
  Header header;
  header.record_size = record_size;
  header.clock = clock;
  header.type = type;
  header.service = "jitquill";
  Bytes out;
  EXPECT_EQ(put_header<kTarget>(header, out), Status::kOk);
  return std::string(chars(out));
}

// What stands in the last column, without the lines in front of the entries.
inline std::vector<std::string> printed(const openj9_reader::Text& text) {
  std::vector<std::string> lines;
  std::size_t at = text.text.find("Tracepoint Data\n") + 16;
  for (std::size_t end; (end = text.text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.text.substr(at, end - at));
  return lines;
}

}  // namespace jitquill::openj9::tests
