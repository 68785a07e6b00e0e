
#include "tests/host/survival/words.hpp"

#include <algorithm>
#include <sstream>

namespace words {
namespace {

using test_support::TempFolder;

std::string text_of(const Calls& calls) {
  std::ostringstream text;
  for (const auto& [name, count] : calls) text << " " << name << ":" << count;
  return text.str();
}

Calls counts_in(const std::string& path) {
  std::istringstream in(test_support::read_text(path));
  Calls calls;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream columns(line);
    std::string column, name;
    std::uint64_t count = 0;
    if (!(columns >> count)) continue;  // the head
    for (int i = 0; i < 4; ++i) columns >> column;
    columns >> name;
    calls[name] += count;
  }
  return calls;
}

}  // namespace

test_support::Command command(const TempFolder& folder, const std::vector<std::string>& said,
                              const std::string& options) {
  return with_preload(folder, WORDS_HOST, said, "formats=calls,counts hooks=* " + options);
}

std::vector<Output> outputs(const TempFolder& folder) {
  std::vector<Output> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("out"))) {
    const std::string path = entry.path();
    if (entry.is_symlink() || !std::filesystem::exists(path + "/calls")) continue;
    Output output;
    output.folder = path;
    output.file = calls_reader::read_file(path + "/calls");
    EXPECT_EQ(describe(output.file.violations), "") << path;
    EXPECT_TRUE(output.file.has_end) << path;
    output.calls = output.file.calls_by_name();
    output.counts = counts_in(path + "/counts");
    EXPECT_EQ(text_of(output.calls), text_of(output.counts)) << path;
    found.push_back(std::move(output));
  }
  std::ranges::sort(found, {}, &Output::folder);
  return found;
}

std::vector<Output> run(const TempFolder& folder, const std::vector<std::string>& said,
                        const std::string& options) {
  test_support::Child child(command(folder, said, options));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_no_lanes(child.pid());
  std::vector<Output> found = outputs(folder);
  for (const Output& output : found) {
    EXPECT_FALSE(std::filesystem::is_symlink(output.folder + "/lanes")) << output.folder;
    const std::string pid = output.folder.substr(output.folder.rfind('-') + 1);
    run_files::expect_no_lanes(std::atoi(pid.c_str()));
  }
  return found;
}

testing::AssertionResult has(const std::vector<Output>& outputs, const Calls& calls) {
  if (std::ranges::any_of(outputs, [&](const Output& output) { return output.calls == calls; }))
    return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure() << "none has" << text_of(calls) << "; there are";
  for (const Output& output : outputs) failure << " [" << text_of(output.calls) << "]";
  return failure;
}

}  // namespace words
