// Prints a trace as OpenJ9's formatter does, and says what is wrong: openj9-walk FILE.trc [FILE.dat...].
// Exit status 1: something is.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/readers/openj9/text.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "openj9-walk FILE.trc [FILE.dat...]\n"), 2;
  const auto file = openj9_reader::read_file(argv[1]);
  openj9_reader::Catalogue catalogue;
  for (int i = 2; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    openj9_reader::add_templates(std::string(std::istreambuf_iterator<char>(stream), {}), catalogue);
  }
  const auto [text, violations] = text_of(file, catalogue);
  std::fputs(text.c_str(), stdout);
  std::fprintf(stderr, "%zu records, %zu entries\n%s%s%s", file.records.size(), file.entries.size(),
               describe(file.violations).c_str(), describe(catalogue.violations).c_str(),
               describe(violations).c_str());
  return file.violations.empty() && catalogue.violations.empty() && violations.empty() ? 0 : 1;
}
