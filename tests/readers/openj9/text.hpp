// The text that OpenJ9's formatter prints of a trace, by the templates of format data files.
//
// Context   tests.
// Promises  as the formatter with -indent prints it, but threads in the summary in the order of their ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/readers/openj9/reader.hpp"

namespace openj9_reader {

// A conversion with the text in front of it.
struct Piece {
  std::string text;
  char conversion = 0;  // d u x p f c s S (with its length in front); 0: text only
  unsigned size = 0;    // bytes; 0 = a pointer's
  unsigned width = 0, precision = 0;
  bool is_left = false, has_zeros = false, has_prefix = false;
};

struct Template {
  int type = 0;
  int level = 0;
  std::string symbol;
  std::string text;  // with both marks in front
  std::vector<Piece> pieces;
};

struct Catalogue {
  std::map<std::string, std::vector<Template>> components;
  std::vector<Violation> violations;

  const Template* find(const std::string& component, int number) const;
};

// The second file's components come behind the first's: of equal names the first wins.
void add_templates(std::string_view dat, Catalogue& catalogue);
Catalogue read_dat_file(const std::string& path);

// What a template prints of the parameters. Reports what they are too few, too many or not fit for.
std::string message(const File& file, const Entry& entry, const Template& row,
                    std::vector<Violation>& violations);

struct Text {
  std::string text;
  std::vector<Violation> violations;
};
std::string summary(const File& file);
std::string time_of(const File& file, std::uint64_t ticks);
Text text_of(const File& file, const Catalogue& catalogue);

}  // namespace openj9_reader
