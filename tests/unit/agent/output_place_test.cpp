#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace jitquill {
namespace {

namespace fs = std::filesystem;

class OutputPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/output-place-XXXXXX";
    dir_ = mkdtemp(name);
    place_.note_start();
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string dir_;
  OutputPlace place_;
};

TEST_F(OutputPlaceTest, MakesAFolderOfTheExecutableAndPid) {
  ASSERT_EQ(place_.open(dir_ + "/deep/er/", 42), 0);
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-42");
  EXPECT_EQ(fs::status(place_.path()).permissions(), fs::perms::owner_all);
}

TEST_F(OutputPlaceTest, TakesTheNextNumberWhereAFolderExists) {
  ASSERT_EQ(place_.open(dir_, 42), 0);
  ASSERT_EQ(place_.open(dir_, 42), 0);
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-42.1");
}

TEST_F(OutputPlaceTest, ARelativeDirCountsFromTheStart) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  OutputPlace place;
  place.note_start();
  fs::current_path(before);
  ASSERT_EQ(place.open("sub", 1), 0);
  EXPECT_TRUE(fs::exists(dir_ + "/sub/unit-agent-1"));
}

TEST_F(OutputPlaceTest, FilesAreNewPrivateHighAndClosedOnExec) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  const int file = place_.create("x");
  ASSERT_GT(file, 100);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  struct stat info {};
  ASSERT_EQ(fstat(file, &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(place_.create("x"), -EEXIST);
  close(file);
}

TEST_F(OutputPlaceTest, ALinkInTheWayIsNotFollowed) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  fs::create_symlink(dir_ + "/elsewhere", std::string(place_.path()) + "/x");
  EXPECT_LT(place_.create("x"), 0);
  EXPECT_FALSE(fs::exists(dir_ + "/elsewhere"));
}

TEST_F(OutputPlaceTest, SaysWhyItCannotBeMade) {
  std::ofstream(dir_ + "/file").close();
  EXPECT_EQ(place_.open(dir_ + "/file", 1), -ENOTDIR);
  EXPECT_EQ(place_.open(dir_ + "/" + std::string(5000, 'x'), 1), -ENAMETOOLONG);
  EXPECT_STREQ(place_.path(), "");
}

TEST_F(OutputPlaceTest, NumbersGoOnInOneDirAndBeginAnewInAnother) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(place_.open(dir_, 42), 0);
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-42.2");
  ASSERT_EQ(place_.open(dir_ + "/other", 42), 0);
  EXPECT_EQ(fs::path(place_.path()), dir_ + "/other/unit-agent-42");
  ASSERT_EQ(place_.open(dir_, 42), 0);
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-42.3");
  ASSERT_EQ(place_.open(dir_, 43), 0);
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-43");
}

TEST_F(OutputPlaceTest, TakesAwayWhatItMadeAndForgetsItsFolder) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  close(place_.create("x"));
  const fs::path file = fs::path(place_.path()) / "x";
  ASSERT_TRUE(fs::exists(file));
  place_.remove("x");
  EXPECT_FALSE(fs::exists(file));
  place_.forget();
  EXPECT_STREQ(place_.path(), "");
}

// A cut name would be another file's.
TEST_F(OutputPlaceTest, RefusesANameThatMakesThePathTooLong) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  EXPECT_EQ(place_.create(std::string(OutputPlace::kPathSize, 'x').c_str()), -ENAMETOOLONG);
}

// What the host prints must not land in a file of ours, though the lowest descriptor is free.
TEST_F(OutputPlaceTest, NeverTakesAStandardDescriptor) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  const int kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{1, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const int file = place_.create("x");
  setrlimit(RLIMIT_NOFILE, &before);
  dup2(kept, STDIN_FILENO);
  close(kept);
  EXPECT_LT(file, 0);
  EXPECT_FALSE(fs::exists(fs::path(place_.path()) / "x"));
}

}  // namespace
}  // namespace jitquill
