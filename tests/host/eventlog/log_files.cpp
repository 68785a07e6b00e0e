#include "tests/host/eventlog/log_files.hpp"

#include <gtest/gtest.h>

#include "tests/host/run/numbered_files.hpp"

namespace log_files {

using eventlog_reader::Event;
using eventlog_reader::File;

std::string only(const test_support::TempFolder& folder) {
  const auto files = test_support::files_below(folder.path(), "", ".eventlog");
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? "" : files[0];
}

File whole(const test_support::TempFolder& folder) {
  File file = eventlog_reader::read_file(only(folder));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_TRUE(file.has_end);
  return file;
}

std::vector<std::string> all(const test_support::TempFolder& folder) {
  return run_files::numbered_files(folder, ".eventlog");
}

std::vector<File> all_whole(const test_support::TempFolder& folder) {
  std::vector<File> files;
  for (const std::string& path : all(folder)) {
    files.push_back(eventlog_reader::read_file(path));
    EXPECT_EQ(describe(files.back().violations), "") << path;
    EXPECT_TRUE(files.back().has_end) << path;
  }
  return files;
}

std::vector<Event> numbered(const File& file, std::uint16_t number) {
  std::vector<Event> found;
  for (const Event& event : file.events) {
    if (event.number == number) found.push_back(event);
  }
  return found;
}

std::uint64_t number_at(const Event& event, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size && !event.texts.empty(); ++i)
    value = value << 8 | static_cast<unsigned char>(event.texts[0].at(at + i));
  return value;
}

std::string text_at(const Event& event, std::size_t at) {
  return event.texts[0].substr(at, event.texts[0].find('\0', at) - at);
}

std::map<std::string, std::uint64_t> entries_by_name(const File& file) {
  std::map<std::uint64_t, std::string> names;
  std::map<std::string, std::uint64_t> entries;
  for (const Event& event : file.events) {
    if (event.number == kFunction) names[number_at(event, 0, 4)] = text_at(event, 32);
    if (event.number != kEnter) continue;
    const auto name = names.find(number_at(event, 0, 4));
    EXPECT_NE(name, names.end()) << "entered before it is defined";
    if (name != names.end()) ++entries[name->second];
  }
  return entries;
}

}  // namespace log_files
