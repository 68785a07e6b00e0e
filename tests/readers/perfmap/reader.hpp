// A strict reader of perf maps, written from docs/perfmap.md alone: it shares nothing with the writer, so
// that both must have understood the same page.
//
// Context   tests.
// Promises  every byte of the file is explained by a rule or reported, with its offset and the reason;
//           reading goes on at the next line.
// Does not  accept what readers merely tolerate: 0x, leading zeros, capital digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perfmap_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/perfmap/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t offset;  // bytes from the start of the file
  Rule rule;
  std::string reason;
};

struct Function {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
};

struct Map {
  std::vector<Function> functions;  // in the file's order
  std::vector<Violation> violations;
  bool torn = false;  // the last line is cut off; it is not among the functions
};

struct Expectations {
  bool may_be_torn = false;  // the process was killed
};

const char* name(Rule rule);

// A line each: "offset 0x28: size: reason (consequence)".
std::string describe(const std::vector<Violation>& violations);

Map read(std::string_view file, const Expectations& expectations = {});

// Also checks the file's name.
Map read_file(const std::string& path, const Expectations& expectations = {});

}  // namespace perfmap_reader
