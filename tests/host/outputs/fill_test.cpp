// max_bytes: no folder takes more than that, each can be read alone, and together they have everything.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

namespace fs = std::filesystem;
using jitdump_reader::Dump;
using jitdump_reader::Expectations;
using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

struct Folder {
  Dump dump;
  std::uint64_t bytes = 0;  // of all its files
};

// By their number, which is the order in which they were opened.
std::map<unsigned, Folder> folders_of(const TempFolder& temp) {
  std::map<unsigned, Folder> folders;
  for (const auto& entry : fs::directory_iterator(temp.file("out"))) {
    if (entry.is_symlink()) continue;
    const std::string number = entry.path().extension().string();
    Folder& folder = folders[number.empty() ? 0 : static_cast<unsigned>(std::stoul(number.substr(1)))];
    for (const auto& file : fs::directory_iterator(entry)) {
      folder.bytes += file.file_size();
      if (file.path().extension() == ".dump") folder.dump = judged(file.path().string());
    }
  }
  return folders;
}

std::set<std::uint32_t> numbers_of(const Dump& dump) {
  std::set<std::uint32_t> numbers;
  for (const Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    EXPECT_EQ(differences(function, i), "");
    numbers.insert(i);
  }
  return numbers;
}

std::map<unsigned, Folder> fill(const TempFolder& temp, const std::vector<std::string>& arguments,
                                const std::string& options) {
  const Ended ended = run(with_agent(temp, FILL_HOST, arguments, options));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.out, "1\n");  // only the newest dump is mapped
  return folders_of(temp);
}

void expect_all_closed_but_the_last(const std::map<unsigned, Folder>& folders) {
  for (const auto& [number, folder] : folders)
    EXPECT_EQ(folder.dump.closed, number + 1 != folders.size()) << number;
}

TEST(OutputsFill, EachFolderIsInTheLimitAndBeginsWithTheLiveCode) {
  constexpr std::uint32_t kFunctions = 2'000, kLasting = 20;
  constexpr std::uint64_t kLimit = 128 * 1024;
  TempFolder temp;
  const auto folders = fill(temp, {"2000", "20", "unloaded"}, "max_bytes=128k");
  ASSERT_GE(folders.size(), 6u);
  expect_all_closed_but_the_last(folders);
  std::set<std::uint32_t> all;
  for (const auto& [number, folder] : folders) {
    EXPECT_LE(folder.bytes, kLimit) << number;
    if (number + 1 != folders.size()) {
      EXPECT_GE(folder.bytes, kLimit / 2) << number;
    }
    const auto numbers = numbers_of(folder.dump);
    EXPECT_EQ(numbers.size(), folder.dump.functions.size()) << "announced twice in " << number;
    for (std::uint32_t i = 0; i < kLasting; ++i) EXPECT_TRUE(numbers.count(i)) << i << " in " << number;
    all.insert(numbers.begin(), numbers.end());
  }
  EXPECT_EQ(all.size(), kFunctions);
}

// 1,000 live functions are more than the limit: each folder has them, and news beside them all the same.
TEST(OutputsFill, LiveCodeBeyondTheLimitStillLeavesRoomForNews) {
  TempFolder temp;
  const auto folders = fill(temp, {"2000", "1000", "unloaded"}, "max_bytes=64k");
  ASSERT_GE(folders.size(), 4u);
  expect_all_closed_but_the_last(folders);
  std::set<std::uint32_t> all;
  std::uint64_t last_folders_live = 0;
  for (const auto& [number, folder] : folders) {
    const auto numbers = numbers_of(folder.dump);
    EXPECT_EQ(numbers.size(), folder.dump.functions.size());
    all.insert(numbers.begin(), numbers.end());
    const auto live = static_cast<std::uint64_t>(std::distance(numbers.begin(), numbers.lower_bound(1'000)));
    EXPECT_GE(live, last_folders_live);
    last_folders_live = live;
    if (number + 1 != folders.size()) {
      EXPECT_GT(numbers.size(), live == 1'000 ? live + 10 : 10) << number;
    }
  }
  EXPECT_EQ(last_folders_live, 1'000u);
  EXPECT_EQ(all.size(), 2'000u);
}

TEST(OutputsFill, AFunctionLargerThanTheLimitIsWrittenNevertheless) {
  TempFolder temp;
  const auto folders = fill(temp, {"400", "5", "large"}, "max_bytes=64k");
  ASSERT_GE(folders.size(), 3u);
  expect_all_closed_but_the_last(folders);
  std::size_t with_large = 0;
  std::set<std::uint32_t> all;
  for (const auto& [number, folder] : folders) {
    bool has_large = false;
    for (const Function& function : folder.dump.functions) {
      if (function.name != "large") {
        all.insert(number_of(function));
        continue;
      }
      EXPECT_EQ(function.code.size(), 200'000u);
      has_large = true;
    }
    EXPECT_TRUE(has_large || with_large == 0) << "it lives on, and is in each folder behind its first";
    if (has_large) ++with_large;
  }
  EXPECT_GE(with_large, 2u);
  EXPECT_LT(with_large, folders.size());
  EXPECT_EQ(all.size(), 400u);
}

class OutputsFillMoved : public testing::TestWithParam<const char*> {};

// What moved lies where it is now, in the folder that was open then.
TEST_P(OutputsFillMoved, CodeIsInTheFoldersWhereItWas) {
  TempFolder temp;
  const Ended ended = run(with_agent(temp, FILL_HOST, {"1500", "5", "moved"}, GetParam()));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::set<std::string> names;
  unsigned dumps = 0;
  for (const std::string& file : dump_files(temp)) {
    ++dumps;
    const std::string bytes = test_support::read_text(file);
    for (std::uint32_t i = 0; i < 1'500; ++i) {
      const std::string name = "fn_" + std::to_string(i);
      if (bytes.find(name + '\0') != std::string::npos) names.insert(name);
    }
    for (std::uint32_t i = 0; i < 5 && dumps > 1; ++i)
      EXPECT_NE(bytes.find("fn_" + std::to_string(i) + '\0'), std::string::npos) << file;
  }
  EXPECT_GE(dumps, 4u);
  EXPECT_EQ(names.size(), 1'500u);
}

INSTANTIATE_TEST_SUITE_P(As, OutputsFillMoved,
                         testing::Values("max_bytes=128k move=reload", "max_bytes=128k move=record"),
                         [](const auto& as) { return as.index == 0 ? "Loads" : "Records"; });

}  // namespace
