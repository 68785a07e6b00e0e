// A strict reader of calls files, written from docs/calls.md alone: it makes the trees again that were
// indented.
//
// Context   tests.
// Promises  every line is explained or reported, with its number and the reason; reading goes on at the next
//           line. Trees of any depth: nothing here recurses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace calls_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/calls/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t line;  // from 1
  Rule rule;
  std::string reason;
};

// In the order in which they were entered.
struct Call {
  std::string name;
  std::size_t caller;  // index in the thread's calls; on its own stack if one is; kNone = outermost
  std::uint64_t depth = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::string how = {};  // empty = returned
  unsigned stack = 0;
  bool has_ended = false;
  std::vector<std::string> callers = {};  // of a call whose stack was taken, the innermost first
  bool is_stack_partial = false;
};
inline constexpr std::size_t kNone = ~std::size_t{0};

// What a runtime told.
struct Event {
  std::string words;  // "event 2000, 12 bytes", "collection ends"
  std::uint64_t depth = 0;
  std::uint64_t time_ns = 0;
};

struct Thread {
  std::vector<Call> calls;
  std::uint64_t lost = 0;  // records
  unsigned begins = 0;
  unsigned ends = 0;
  std::vector<Event> events;
};

struct File {
  std::map<std::string, Thread> threads;  // by the column's text: comm-tid
  std::vector<Violation> violations;
  bool has_end = false;

  std::uint64_t lost() const;
  std::map<std::string, std::uint64_t> calls_by_name() const;
};

const char* name(Rule rule);
std::string describe(const std::vector<Violation>& violations);

File read(std::string_view text);
File read_file(const std::string& path);

}  // namespace calls_reader
