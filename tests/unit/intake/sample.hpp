// sample.c as an object file, loaded at an address of the test's choice, and what the plugin says of a file.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/intake/symfile/plugin.hpp"

namespace sample {

inline constexpr std::uint64_t kAddress = 0x7F0000001000;
inline constexpr std::uint64_t kGap = 0x1000;

std::vector<std::uint8_t> object();
// Of the source's first line with this text.
unsigned line_of(const std::string& text);

struct SeenLine {
  std::uint32_t offset;
  unsigned line;
  unsigned column;
  std::string file;
};
struct Seen {
  std::uint64_t address;
  std::uint64_t size;
  std::string name;
  std::vector<SeenLine> lines;
};

struct Functions {
  bool is_read = false;
  std::vector<Seen> all;

  const Seen* find(const std::string& name) const;
};
Functions functions_of(std::span<const std::uint8_t> file);

}  // namespace sample
