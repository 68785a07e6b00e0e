// A strict reader of GHC eventlogs, written from the specification of the format: it walks every byte and
// says what real readers would make of what is wrong.
//
// Context   tests.
// Promises  every byte is explained or reported, with its place and the reason; reading goes on where a real
//           reader's would.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eventlog_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/eventlog/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t at;  // byte of the file
  Rule rule;
  std::string reason;
};

struct Type {
  std::uint16_t number;
  std::uint16_t size;  // 0xffff: variable
  std::string description;
  std::string extra;
};

inline constexpr std::uint16_t kNoCapability = 0xFFFF;

struct Event {
  std::uint16_t number;
  std::string name;  // as GHC has it; "" = not one of those in types.def
  std::uint64_t when_ns;
  std::uint16_t capability;
  std::vector<std::uint64_t> numbers;  // of integers and lists, in their order
  std::vector<std::string> texts;
};

struct File {
  std::map<std::uint16_t, Type> types;
  std::vector<Event> events;  // in the order of the file, markers of blocks too
  std::vector<Violation> violations;
  std::uint64_t backward_steps = 0;  // of time, within one block
  std::uint64_t header_size = 0;
  bool has_end = false;

  std::vector<Event> named(std::string_view name) const;
};

const char* name(Rule rule);
std::string describe(const std::vector<Violation>& violations);

File read(std::string_view bytes);
File read_file(const std::string& path);

}  // namespace eventlog_reader
