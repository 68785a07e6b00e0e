#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
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

}  // namespace
}  // namespace jitquill
