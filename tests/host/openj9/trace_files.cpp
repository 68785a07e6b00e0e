#include "tests/host/openj9/trace_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/host/run/numbered_files.hpp"
#include "tests/readers/openj9/formatter.hpp"

namespace trace_files {
namespace {

constexpr int kEntry = 2, kExit = 4, kExitException = 5;

std::string dat_of(const std::string& trace) {
  return std::filesystem::path(trace).replace_extension(".dat").string();
}

// A name up to what is said behind it.
std::string name_of(const Trace& trace, const openj9_reader::Entry& entry) {
  const auto byte = [&](std::size_t at) -> std::size_t {
    return static_cast<unsigned char>(entry.parameters.at(at));
  };
  const std::size_t size = byte(0) | byte(1) << 8;
  EXPECT_FALSE(trace.file.header.is_big);
  return entry.parameters.substr(2, size);
}

}  // namespace

std::string only(const test_support::TempFolder& folder) {
  const auto files = test_support::files_below(folder.path(), "", ".trc");
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? "" : files[0];
}

std::vector<std::string> all(const test_support::TempFolder& folder) {
  return run_files::numbered_files(folder, ".trc");
}

std::string joined(const std::vector<std::string>& files) {
  std::string bytes;
  for (const std::string& path : files) {
    const std::string file = test_support::read_text(path);
    bytes += file.substr(bytes.empty() ? 0 : openj9_reader::read_file(path).header.size);
  }
  return bytes;
}

Trace whole(const test_support::TempFolder& folder, const std::string& component) {
  const std::string path = only(folder);
  std::string dats = dat_of(path);
  if (!component.empty())
    dats += "," + std::filesystem::path(path).replace_extension(component + ".dat").string();
  return whole_file(path, dats);
}

Trace whole_file(const std::string& path, const std::string& dats) {
  Trace trace{openj9_reader::read_file(path), {}, {}};
  std::istringstream each(dats);
  for (std::string dat; std::getline(each, dat, ',');)
    add_templates(test_support::read_text(dat), trace.templates);
  EXPECT_EQ(describe(trace.file.violations), "") << path;
  EXPECT_EQ(describe(trace.templates.violations), "");
  const auto [text, violations] = text_of(trace.file, trace.templates);
  EXPECT_EQ(describe(violations), "");
  std::size_t at = text.find("Tracepoint Data\n") + 16;
  for (std::size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    trace.lines.push_back(text.substr(at, end - at));
  EXPECT_EQ(trace.lines.size(), trace.file.entries.size());
  openj9_reader::expect_as_formatted(path, dats, trace.file, text);
  return trace;
}

std::vector<std::string> Trace::said(const std::string& words) const {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (const std::size_t at = line.find(words); at != line.npos)
      found.push_back(line.substr(at + words.size()));
  }
  return found;
}

std::map<std::string, Balance> calls_by_name(const Trace& trace) {
  std::map<std::string, Balance> all;
  for (const auto& entry : trace.file.entries) {
    const auto* const row = trace.templates.find(entry.component, entry.number);
    if (row == nullptr || entry.component != "jqm") continue;
    if (row->type == kEntry) ++all[name_of(trace, entry)].entered;
    if (row->type == kExit || row->type == kExitException) ++all[name_of(trace, entry)].left;
  }
  return all;
}

void expect_nested(const Trace& trace) {
  constexpr std::size_t kColumn = 70;  // of what was entered at no depth
  std::map<std::uint64_t, std::vector<std::string>> open;
  for (std::size_t i = 0; i < trace.file.entries.size(); ++i) {
    const auto& entry = trace.file.entries[i];
    const auto* const row = trace.templates.find(entry.component, entry.number);
    if (row == nullptr || entry.component != "jqm") continue;
    auto& stack = open[entry.thread];
    const std::string& line = trace.lines[i];
    if (row->type == kEntry) {
      ASSERT_EQ(line.find('>', kColumn), kColumn + 2 * stack.size()) << line;
      stack.push_back(name_of(trace, entry));
    }
    if (row->type != kExit && row->type != kExitException) continue;
    ASSERT_FALSE(stack.empty());
    ASSERT_EQ(stack.back(), name_of(trace, entry));
    stack.pop_back();
    const std::size_t behind_mark = row->type == kExitException ? 1 : 0;
    ASSERT_EQ(line.find('<', kColumn), kColumn + 2 * stack.size() + behind_mark) << line;
  }
  for (const auto& [thread, stack] : open) EXPECT_TRUE(stack.empty()) << thread;
}

}  // namespace trace_files
