#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace jitquill {
namespace {

namespace fs = std::filesystem;

class OutputPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/output-place-XXXXXX";
    dir_ = mkdtemp(name);
    fs::create_directory(dir_ + "/home");
    setenv("HOME", (dir_ + "/home").c_str(), 1);
    unsetenv("XDG_RUNTIME_DIR");
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

// jitquill run is told of each folder, whatever its place and name; a list that is gone is not made again.
TEST_F(OutputPlaceTest, TellsTheRunOfEachFolder) {
  const std::string list = dir_ + "/list";
  std::ofstream(list).close();
  setenv("JITQUILL_RUN_LIST", list.c_str(), 1);
  OutputPlace place;
  place.note_start();
  unsetenv("JITQUILL_RUN_LIST");
  ASSERT_EQ(place.open(dir_, 42), 0);
  const std::string first = place.path();
  ASSERT_EQ(place.open("/proc/nowhere", 42), 0);
  const std::string second = place.path();
  EXPECT_NE(fs::path(first).parent_path(), fs::path(second).parent_path());
  std::ifstream in(list, std::ios::binary);
  const std::string told{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(told, first + '\0' + second + '\0');
  fs::remove(list);
  ASSERT_EQ(place.open(dir_, 43), 0);
  EXPECT_FALSE(fs::exists(list));
}

TEST_F(OutputPlaceTest, ARelativeDirCountsFromTheStart) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  OutputPlace place;
  place.note_start();
  fs::current_path(before);
  ASSERT_EQ(place.open("sub", 1), 0);
  EXPECT_TRUE(fs::exists(dir_ + "/sub/unit-agent-1"));
  EXPECT_EQ(place.trouble_with_dir(), nullptr);
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

TEST_F(OutputPlaceTest, SaysWhyTheDirIsNotUsed) {
  std::ofstream(dir_ + "/file").close();
  EXPECT_EQ(place_.open(dir_ + "/file", 1), 0);
  EXPECT_STREQ(place_.trouble_with_dir(), strerrordesc_np(ENOTDIR));
  EXPECT_EQ(place_.open(dir_ + "/" + std::string(5000, 'x'), 1), 0);
  EXPECT_STREQ(place_.trouble_with_dir(), strerrordesc_np(ENAMETOOLONG));
  EXPECT_EQ(place_.open(dir_, 1), 0);
  EXPECT_EQ(place_.trouble_with_dir(), nullptr);
}

TEST_F(OutputPlaceTest, GoesToThePrivatePlacesInTheirOrder) {
  const std::string runtime = dir_ + "/runtime";
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  OutputPlace place;
  place.note_start();
  fs::create_directory(runtime);
  ASSERT_EQ(place.open("/proc/nowhere", 1), 0);
  EXPECT_EQ(place.path(), runtime + "/jitquill/unit-agent-1");
  fs::permissions(runtime + "/jitquill", fs::perms::group_read, fs::perm_options::add);
  ASSERT_EQ(place.open("/proc/nowhere", 2), 0);  // that one is not private any more
  EXPECT_EQ(place.path(), dir_ + "/home/.cache/jitquill/unit-agent-2");
  EXPECT_EQ(fs::status(dir_ + "/home/.cache/jitquill").permissions(), fs::perms::owner_all);
}

// Somebody else could let a link lie where our folder is looked for.
TEST_F(OutputPlaceTest, APrivatePlaceIsNoLink) {
  fs::create_directory(dir_ + "/elsewhere");
  fs::permissions(dir_ + "/elsewhere", fs::perms::owner_all);
  fs::create_directory(dir_ + "/home/.cache");
  fs::create_symlink(dir_ + "/elsewhere", dir_ + "/home/.cache/jitquill");
  ASSERT_EQ(place_.open("/proc/nowhere", 1), 0);
  EXPECT_FALSE(std::string(place_.path()).starts_with(dir_)) << place_.path();  // /tmp/jitquill-<uid>
  EXPECT_TRUE(fs::is_empty(dir_ + "/elsewhere"));
  const fs::path made = place_.path();
  fs::remove_all(made);
  fs::remove(made.parent_path() / "latest");
  std::error_code others;  // somebody else's output may be there
  fs::remove(made.parent_path(), others);
}

TEST_F(OutputPlaceTest, WordsInTheDirAreReplaced) {
  ASSERT_EQ(place_.open(dir_ + "/%c/100%%/%p", 42), 0);
  EXPECT_EQ(place_.path(), dir_ + "/unit-agent/100%/42/unit-agent-42");
  ASSERT_EQ(place_.open(dir_ + "/at-%t", 42), 0);
  const std::string time = fs::path(place_.path()).parent_path().filename().string();
  std::tm parsed{};
  ASSERT_STREQ(strptime(time.c_str(), "at-%Y%m%d-%H%M%S", &parsed), "");
  EXPECT_LT(std::abs(timegm(&parsed) - std::time(nullptr)), 60);
}

// The host may hold what it was handed, on any thread.
TEST_F(OutputPlaceTest, AnEarlierPathStaysAsItWas) {
  ASSERT_EQ(place_.open(dir_, 7), 0);
  const char* const first = place_.path();
  ASSERT_EQ(place_.open(dir_, 7), 0);
  EXPECT_EQ(fs::path(first).filename(), "unit-agent-7");
  EXPECT_EQ(fs::path(place_.path()).filename(), "unit-agent-7.1");
}

TEST_F(OutputPlaceTest, ALinkThatAKilledProcessLeftHalfDoneIsReplaced) {
  fs::create_symlink("stale", dir_ + "/.jitquill-link-7");
  ASSERT_EQ(place_.open(dir_, 7), 0);
  EXPECT_EQ(fs::read_symlink(dir_ + "/latest"), "unit-agent-7");
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(dir_ + "/.jitquill-link-7")));
}

TEST_F(OutputPlaceTest, LatestLeadsToTheNewestFolder) {
  for (const char* wanted : {"unit-agent-7", "unit-agent-7.1"}) {
    ASSERT_EQ(place_.open(dir_, 7), 0);
    EXPECT_EQ(fs::read_symlink(dir_ + "/latest"), wanted);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 4);  // home, two folders, the link
}

TEST_F(OutputPlaceTest, ALatestThatIsSomebodysFileStays) {
  std::ofstream(dir_ + "/latest") << "mine";
  ASSERT_EQ(place_.open(dir_, 7), 0);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ + "/latest")));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 3);
}

// Who may write to the dir could move our folder away and put another, or a link, in its place.
TEST_F(OutputPlaceTest, MakesNothingInAFolderThatTookThePlaceOfOurs) {
  ASSERT_EQ(place_.open(dir_, 1), 0);
  const fs::path ours = place_.path();
  fs::rename(ours, dir_ + "/moved");
  EXPECT_EQ(place_.create("x"), -ENOENT);
  fs::create_directory(ours);
  EXPECT_EQ(place_.create("x"), -EPERM);  // others may look into it
  fs::permissions(ours, fs::perms::owner_all);
  EXPECT_EQ(place_.create("x"), -ENOENT);
  fs::remove(ours);
  fs::create_symlink(dir_ + "/home", ours);
  EXPECT_LT(place_.create("x"), 0);
  EXPECT_TRUE(fs::is_empty(dir_ + "/home"));
  EXPECT_TRUE(fs::is_empty(ours));
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
