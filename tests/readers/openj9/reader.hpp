// A strict reader of OpenJ9's binary traces, written from the specification of the format: it decodes every
// record as OpenJ9's formatter does, and says what that would make of what is wrong. How the text is laid out
// (columns, names of types, the order in which threads are merged) was looked up in the formatter's sources.
//
// Context   tests.
// Promises  every byte is explained or reported, with its place and the reason; reading goes on where the
//           formatter would. Entries come in the order in which it prints them.
// Does not  join entries that are cut by a record's end: no writer of ours cuts one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace openj9_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/openj9/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t at;  // byte of the file; of a format data file, the line from 1
  Rule rule;
  std::string reason;
};

struct Header {
  std::uint32_t size = 0;  // bytes, of all sections
  std::uint32_t record_size = 0;
  bool is_big = false;
  std::uint64_t start_ticks = 0;
  std::uint64_t start_ms = 0;  // since 1970, at the same instant
  bool is_internal = false;    // rings
  std::uint32_t generations = 0;
  std::uint32_t pointer_size = 0;
  std::string service;
  std::vector<std::string> startup;
  std::vector<std::string> active;
  std::uint32_t architecture = 0, says_big = 0, word_size = 0, processors = 0, subtype = 0, counter = 0;
};

struct Record {
  std::uint64_t at;  // byte of the file
  std::uint64_t newest_ticks, first_ticks, written_ticks, written_ms;
  std::uint64_t thread;
  std::string thread_name;
  std::uint32_t first_entry, last_entry;  // offsets in the record
  std::size_t entries = 0;
  std::uint32_t lost = 0;  // records of this thread in front of it
};

struct Entry {
  std::uint64_t at;     // byte of the file
  std::uint64_t ticks;  // whole, as the formatter makes it again
  std::uint64_t thread;
  std::string component;
  std::string container;  // of "component(container)"
  int number = 0;
  std::string parameters = {};  // as they lie there
};

struct File {
  Header header;
  std::vector<Record> records;
  std::vector<Entry> entries;
  std::vector<Violation> violations;

  std::uint64_t ticks_per_ms() const;  // 0: the formatter dies of it
  std::vector<Entry> of(std::uint64_t thread) const;
};

const char* name(Rule rule);
std::string describe(const std::vector<Violation>& violations);

File read(std::string_view bytes);
File read_file(const std::string& path);

}  // namespace openj9_reader
