// A broken rule of the jitdump format: where, which, and why.
//
// Context   tests and tools; plain values.
// Promises  every rule has a name and says which reader suffers how (rules.def).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jitdump_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/jitdump/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t offset;  // bytes from the start of the file
  Rule rule;
  std::string reason;
};

using Violations = std::vector<Violation>;

const char* name(Rule rule);
const char* consequence(Rule rule);

// "offset 0x28: load-size: reason (consequence)"
std::string describe(const Violation& violation);
std::string describe(const Violations& violations);

}  // namespace jitdump_reader
