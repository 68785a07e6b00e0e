// Where the map of a whole process goes, and what happens to what has its name in /tmp already.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "tests/host/perfmap/map_run.hpp"

namespace {

using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

class PerfmapPlace : public testing::Test {
 protected:
  // Runs `before` in a shell that then becomes the host: $map is what the host's map will be called in /tmp.
  void announce_three_after(const std::string& before, const std::string& options) {
    const std::string script = "map=/tmp/perf-$$.map; " + before + " exec " ANNOUNCE_HOST " 3";
    child_.emplace(with_agent(folder_, "sh", {"-c", script}, "formats=perfmap " + options));
    in_tmp_.emplace(child_->pid());
    const Ended ended = child_->wait(60);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.out, "0\n0\n0\n");
    EXPECT_EQ(ended.err, "");
  }
  void expect_three(const perfmap_reader::Map& map) {
    EXPECT_EQ(map.functions.size(), 3u);
    expect_patterns_in_order(map);
  }
  void expect_three_in_the_folder_because(const std::string& why) {
    expect_three(only_map(folder_));
    EXPECT_NE(log().find(in_tmp_->path() + " is not written: "), std::string::npos) << log();
    EXPECT_NE(log().find(why), std::string::npos) << log();
    EXPECT_NE(log().find("perfmap_at=dir"), std::string::npos) << log();
  }
  std::string log() const {
    const auto files = test_support::files_below(folder_.path(), "log", "");
    return files.empty() ? "" : test_support::read_text(files.front());
  }

  TempFolder folder_;
  std::optional<Child> child_;
  std::optional<MapInTmp> in_tmp_;
};

TEST_F(PerfmapPlace, IsTmpUnlessSaidOtherwise) {
  announce_three_after("", "");
  expect_three(judged_map(in_tmp_->path()));
  EXPECT_TRUE(map_files(folder_).empty());
  EXPECT_EQ(log(), "");
}

TEST_F(PerfmapPlace, IsTheFolderAlone) {
  announce_three_after("", "perfmap_at=dir");
  expect_three(only_map(folder_));
  EXPECT_FALSE(in_tmp_->exists());
}

TEST_F(PerfmapPlace, IsBothAndTheStatisticsCountBoth) {
  announce_three_after("", "perfmap_at=both");
  expect_three(only_map(folder_));
  const std::string map = test_support::read_text(in_tmp_->path());
  EXPECT_EQ(map, test_support::read_text(map_files(folder_).at(0)));
  const auto stats = test_support::files_below(folder_.path(), "stats", "");
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_NE(test_support::read_text(stats[0]).find("bytes_written\t" + std::to_string(2 * map.size()) + "\t"),
            std::string::npos);
}

TEST_F(PerfmapPlace, IsNowhereForOtherFormats) {
  announce_three_after("touch -d yesterday $map;", "formats=jitdump perfmap_at=both");
  EXPECT_TRUE(map_files(folder_).empty());
  EXPECT_TRUE(in_tmp_->exists());  // not even what is stale is taken away
}

TEST_F(PerfmapPlace, AStaleMapIsReplaced) {
  announce_three_after("echo '1 1 old' > $map; touch -d yesterday $map;", "");
  expect_three(judged_map(in_tmp_->path()));
  EXPECT_TRUE(map_files(folder_).empty());
}

TEST_F(PerfmapPlace, TheRuntimesOwnMapIsLeftAlone) {
  announce_three_after("echo '1 1 own' > $map;", "");
  EXPECT_EQ(test_support::read_text(in_tmp_->path()), "1 1 own\n");
  expect_three_in_the_folder_because("its runtime writes one");
}

TEST_F(PerfmapPlace, TheRuntimesOwnMapIsLeftAloneWithBothToo) {
  announce_three_after("echo '1 1 own' > $map;", "perfmap_at=both");
  EXPECT_EQ(test_support::read_text(in_tmp_->path()), "1 1 own\n");
  expect_three_in_the_folder_because("its runtime writes one");
}

TEST_F(PerfmapPlace, ALinkIsNotFollowed) {
  announce_three_after("touch target; ln -s $PWD/target $map; touch -h -d yesterday $map;", "");
  EXPECT_EQ(test_support::read_text(folder_.file("target")), "");
  expect_three_in_the_folder_because("no plain file");
}

class PerfmapFolders : public testing::TestWithParam<const char*> {};

// The file in /tmp is the process's, whichever folder is the newest.
TEST_P(PerfmapFolders, ThatAreFullAreFollowedByOthersAndTmpHasAll) {
  constexpr std::uint32_t kFunctions = 6'000;
  constexpr std::size_t kMaxBytes = 64 * 1024;
  TempFolder folder;
  Child host(with_agent(folder, FILL_HOST, {std::to_string(kFunctions), "10", "unloaded"},
                        std::string("formats=perfmap max_bytes=64k perfmap_at=") + GetParam()));
  const MapInTmp in_tmp(host.pid());
  const Ended ended = host.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::set<std::uint32_t> in_folders;
  for (const std::string& file : map_files(folder)) {
    EXPECT_LE(test_support::read_text(file).size(), kMaxBytes);
    for (const std::uint32_t i : numbers_of(judged_map(file))) in_folders.insert(i);
  }
  EXPECT_EQ(in_folders.size(), kFunctions);
  EXPECT_GT(map_files(folder).size(), 1u);
  if (std::string(GetParam()) == "dir") return;
  const auto numbers = numbers_of(judged_map(in_tmp.path()));
  EXPECT_EQ(std::set<std::uint32_t>(numbers.begin(), numbers.end()), in_folders);
}

INSTANTIATE_TEST_SUITE_P(At, PerfmapFolders, testing::Values("dir", "both"),
                         [](const auto& at) { return std::string(at.param); });

}  // namespace
