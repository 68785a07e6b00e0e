// A process that is traced, is not, and is again has one whole output for each time.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_calls(const std::string& folder, const std::string& name) {
  const auto file = calls_reader::read_file(folder + "/calls");
  EXPECT_EQ(describe(file.violations), "") << folder;
  ASSERT_EQ(file.threads.size(), 2u) << folder;
  for (const auto& [thread_name, thread] : file.threads) {
    EXPECT_EQ(thread.begins, 1u) << thread_name;
    ASSERT_EQ(thread.calls.size(), 3u) << thread_name;
    for (const auto& call : thread.calls) EXPECT_EQ(call.name, name);
  }
}

TEST(AnotherStart, HasItsOwnCallsOnly) {
  const TempFolder folder;
  test_support::Child child(with_agent(folder, AGAIN_HOST, {"3", "stop"}, "formats=calls,counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto folders = lines_of(ended.out);
  ASSERT_EQ(folders.size(), 3u);
  for (std::size_t i = 0; i < folders.size(); ++i) expect_calls(folders[i], "f" + std::to_string(i + 1));
}

TEST(AnotherStart, IsRecoveredIntoItsOwnFolder) {
  const TempFolder folder;
  test_support::Child child(with_agent(folder, AGAIN_HOST, {"2", "kill"}, "formats=calls,counts hooks=*"));
  const auto folders = lines_of(child.wait(60).out);
  ASSERT_EQ(folders.size(), 2u);
  const std::string lanes = std::filesystem::read_symlink(folders[1] + "/lanes");
  test_support::Command recover;
  recover.words = {JITQUILL_COMMAND, "recover", folders[1]};
  const auto recovered = test_support::run(recover);
  EXPECT_TRUE(recovered.succeeded()) << recovered.describe();
  std::filesystem::remove_all(lanes);
  expect_calls(folders[0], "f1");
  expect_calls(folders[1], "f2");
}

}  // namespace
