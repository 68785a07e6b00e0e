#include "tests/readers/openj9/formatter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/child.hpp"
#include "tests/support/temp_folder.hpp"

namespace openj9_reader {
namespace {

constexpr int kMostSeconds = 600;  // of a million entries, beside other work

std::string up_to_threads(const std::string& text) {
  return text.substr(0, text.find("Active threads"));
}
std::string entries_of(const std::string& text) {
  return text.substr(std::min(text.find("                Trace Formatted Data"), text.size()));
}

// gtest prints all of both texts, however long.
void expect_same(const std::string& printed, const std::string& ours) {
  if (printed == ours) return;
  const auto at = std::ranges::mismatch(printed, ours).in1 - printed.begin();
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 200, 0));
  ADD_FAILURE() << "the formatter has " << printed.size() << " bytes, the reader " << ours.size()
                << "; they part at " << at << "\nformatter: " << printed.substr(from, 400)
                << "\nreader:    " << (from < ours.size() ? ours.substr(from, 400) : "");
}

}  // namespace

void expect_as_formatted(const std::string& trace, const std::string& dats, const File& read,
                         const std::string& text) {
  const char* const formatter = std::getenv(kFormatterVariable);
  if (formatter == nullptr) return;
  const test_support::TempFolder folder;
  const std::string file = folder.file("printed");
  const std::string command =
      std::string(formatter) + " '" + trace + "' '" + file + "' -datfile='" + dats + "' -indent";
  const auto ended = test_support::run(
      {.words = {"/bin/sh", "-c", command}, .environment = {}, .folder = folder.path()}, kMostSeconds);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  const std::string said = ended.out + ended.err;
  const auto losses =
      std::ranges::count_if(read.records, [](const Record& record) { return record.lost != 0; });
  EXPECT_NE(said.find("with " + std::to_string(losses) + " warnings and 0 errors"), std::string::npos)
      << said;
  const std::string printed = test_support::read_text(file);
  expect_same(up_to_threads(printed), up_to_threads(text));
  expect_same(entries_of(printed), entries_of(text));
}

}  // namespace openj9_reader
