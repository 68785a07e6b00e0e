// A strict reader of the four kinds of files of the OProfile ABI of 2002, written from the specification
// alone: it shares nothing with the writer, so that both must have understood the same text.
//
// Context   tests.
// Promises  reads words of 1 to 255 bytes in any byte order; every byte of the file is explained by a rule or
//           reported, with its place and the reason. It never reads outside of the file, and always ends.
// Does not  accept what readers merely tolerate: stray bytes, reserved values, a tail that is torn.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oprofile_reader {

enum class Rule : std::uint8_t {
#define RULE(id, name, consequence) id,
#include "tests/readers/oprofile/rules.def"
#undef RULE
};

struct Violation {
  std::uint64_t at;  // byte of the file
  Rule rule;
  std::string reason;
};

enum class Kind : std::uint8_t { kUnknown, kNotes, kSamples, kHashMap, kDatabase };

// All ones in the file's width is NIL, and also the greatest number: which it is depends on the field.
inline constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

struct Word {
  std::uint64_t value = 0;  // of one that is NIL in words of more than 8 bytes: kAllOnes
  bool is_nil = false;
};

struct Note {
  std::uint64_t address;
  std::uint64_t length;
  std::uint64_t offset;
  std::optional<std::uint64_t> path;  // index in the hash map; nothing: NIL
  std::uint64_t pid;
  std::uint64_t type;
};

struct Sample {
  std::uint64_t address;
  std::uint64_t count;
  std::uint64_t counter;
  std::uint64_t pid;
};

struct Buffer {
  std::uint64_t cpu;
  std::uint64_t state;
  std::vector<Sample> samples;
};

struct Database {
  std::uint64_t total = 0;  // pages, as all of these
  std::uint64_t current = 0;
  std::optional<std::uint64_t> root;
  std::uint64_t page_entries = 0;
  std::uint64_t depth = 0;                                      // of leaves; 0: the tree is empty
  std::uint64_t reached = 0;                                    // pages in the tree
  std::uint64_t tail_size = 0;                                  // bytes of the file behind its last page
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // (key, value) as the walk meets them
};

struct File {
  Kind kind = Kind::kUnknown;
  std::uint8_t major = 0, minor = 0;
  std::vector<std::uint8_t> order;  // significance of each byte of a word: as many as a word has bytes
  std::vector<Note> notes;
  std::vector<Buffer> buffers;
  std::map<std::uint64_t, std::string> paths;  // of a hash map, by index, without the root
  std::uint64_t map_size = 0;                  // entries
  Database database;
  std::vector<Violation> violations;
};

struct Expectations {
  // The process that wrote it was killed. Then the last record of a stream may be torn, and of a database a
  // page in use may be not in the tree, what is not in use may hold anything, and the file may be longer.
  bool was_killed = false;
};

const char* name(Rule rule);
std::string describe(const std::vector<Violation>& violations);

File read(std::span<const std::uint8_t> bytes, const Expectations& expectations = {});
File read_file(const std::string& path, const Expectations& expectations = {});

}  // namespace oprofile_reader
