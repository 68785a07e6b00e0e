#include "agent/life/perf_map_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "agent/base/start_time.hpp"
#include "agent/life/output_place.hpp"

namespace jitquill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "perf-4711.map";
const std::time_t g_start = std::time(nullptr);  // when the test program began

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

void make_old(const fs::path& path) {
  const timespec times[2] = {{g_start - 3600, 0}, {g_start - 3600, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

// `tmp` stands for /tmp, `out` for the output folder.
class PerfMapPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perf-map-place-XXXXXX";
    dir_ = mkdtemp(name);
    tmp_ = dir_ + "/tmp";
    fs::create_directory(tmp_);
    output_.note_start();
    ASSERT_EQ(output_.open(dir_ + "/out", 4711), 0);
    log_.open(output_, "log", false, 4711);
    place_.emplace(tmp_.c_str()).open(log_, &output_);
  }
  void TearDown() override {
    log_.close();
    fs::remove_all(dir_);
  }

  fs::path in_tmp() const { return fs::path(tmp_) / kName; }
  fs::path in_output() const { return fs::path(output_.path()) / kName; }
  std::string log() const { return contents(fs::path(output_.path()) / "log"); }

  // The map goes into the output folder, and the log says why.
  void expect_instead(const std::string& why) {
    const int file = place_->create(kName);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::write(file, "ours", 4), 4);
    close(file);
    EXPECT_EQ(contents(in_output()), "ours");
    EXPECT_NE(log().find(why), std::string::npos) << log();
    EXPECT_NE(log().find("perfmap_at=dir"), std::string::npos) << log();
  }

  std::string dir_;
  std::string tmp_;
  OutputPlace output_;
  Log log_;
  std::optional<PerfMapPlace> place_;
};
TEST_F(PerfMapPlaceTest, AFileIsNewPrivateHighAndClosedOnExec) {
  const int file = place_->create(kName);
  ASSERT_GT(file, 100);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  struct stat info {};
  ASSERT_EQ(stat(in_tmp().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_FALSE(fs::exists(in_output()));
  EXPECT_EQ(log(), "");
  close(file);
}

TEST_F(PerfMapPlaceTest, WhatAnEarlierProcessLeftIsReplaced) {
  write(in_tmp(), "old");
  make_old(in_tmp());
  const int file = place_->create(kName);
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_EQ(contents(in_tmp()), "");
  EXPECT_FALSE(fs::exists(in_output()));
  EXPECT_EQ(log(), "");
}

TEST_F(PerfMapPlaceTest, AFileOfThisProcessLifeIsItsRuntimes) {
  write(in_tmp(), "runtime's");
  expect_instead("since this process started");
  EXPECT_EQ(contents(in_tmp()), "runtime's");
}

TEST_F(PerfMapPlaceTest, ALinkIsLeftAloneHoweverOld) {
  write(dir_ + "/elsewhere", "text");
  fs::create_symlink(dir_ + "/elsewhere", in_tmp());
  make_old(in_tmp());
  expect_instead("no plain file");
  EXPECT_TRUE(fs::is_symlink(in_tmp()));
  EXPECT_EQ(contents(dir_ + "/elsewhere"), "text");
}

TEST_F(PerfMapPlaceTest, ALinkToNothingMakesNothing) {
  fs::create_symlink(dir_ + "/elsewhere", in_tmp());
  make_old(in_tmp());
  expect_instead("no plain file");
  EXPECT_FALSE(fs::exists(dir_ + "/elsewhere"));
}

TEST_F(PerfMapPlaceTest, AFileWithTwoNamesIsLeftAlone) {
  write(dir_ + "/elsewhere", "text");
  fs::create_hard_link(dir_ + "/elsewhere", in_tmp());
  make_old(in_tmp());
  expect_instead("no plain file");
  EXPECT_EQ(contents(in_tmp()), "text");
}

TEST_F(PerfMapPlaceTest, AFolderIsLeftAlone) {
  fs::create_directory(in_tmp());
  make_old(in_tmp());
  expect_instead("no plain file");
  EXPECT_TRUE(fs::is_directory(in_tmp()));
}

TEST_F(PerfMapPlaceTest, AForeignFileIsLeftAlone) {
  constexpr uid_t kNobody = 65534;
  write(in_tmp(), "theirs");
  if (chown(in_tmp().c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "only root can give files away";
  make_old(in_tmp());
  expect_instead("no plain file");
  EXPECT_EQ(contents(in_tmp()), "theirs");
}

TEST_F(PerfMapPlaceTest, SaysWhatTheSystemSays) {
  fs::remove(tmp_);
  expect_instead("No such file or directory");
}

TEST_F(PerfMapPlaceTest, WithoutAnotherPlaceThereIsNoFile) {
  write(in_tmp(), "runtime's");
  place_->open(log_, nullptr);
  EXPECT_EQ(place_->create(kName), -EEXIST);
  EXPECT_NE(log().find("since this process started"), std::string::npos) << log();
  place_->remove(kName);
  EXPECT_EQ(contents(in_tmp()), "runtime's");
}

TEST_F(PerfMapPlaceTest, TakesItsOwnFileAwayWhereNobodyWroteToIt) {
  close(place_->create(kName));
  EXPECT_TRUE(place_->remove_empty(kName));
  EXPECT_FALSE(fs::exists(in_tmp()));
  close(place_->create(kName));
  write(in_tmp(), "runtime's");  // into ours
  EXPECT_FALSE(place_->remove_empty(kName));
  EXPECT_EQ(contents(in_tmp()), "runtime's");
}

TEST_F(PerfMapPlaceTest, TakesNoFileAwayThatTookThePlaceOfItsOwn) {
  const int file = place_->create(kName);
  fs::remove(in_tmp());
  write(in_tmp(), "");
  EXPECT_FALSE(place_->remove_empty(kName));
  EXPECT_TRUE(fs::exists(in_tmp()));
  close(file);
}

TEST_F(PerfMapPlaceTest, ContinuesItsOwnFileOfThisProcess) {
  int file = place_->create(kName);
  ASSERT_EQ(::write(file, "one", 3), 3);
  close(file);
  file = place_->create(kName);
  ASSERT_GT(file, 100);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  close(file);
  EXPECT_EQ(contents(in_tmp()), "one");
  EXPECT_EQ(log(), "");
}

TEST_F(PerfMapPlaceTest, TakesAwayWhatItMadeWhereverThatWas) {
  close(place_->create(kName));
  place_->remove(kName);
  EXPECT_FALSE(fs::exists(in_tmp()));
  write(in_tmp(), "runtime's");
  close(place_->create(kName));
  place_->remove(kName);
  EXPECT_FALSE(fs::exists(in_output()));
  EXPECT_EQ(contents(in_tmp()), "runtime's");
}

// A cut name would be another process's.
TEST_F(PerfMapPlaceTest, RefusesANameThatMakesThePathTooLong) {
  EXPECT_EQ(place_->create(std::string(300, 'x').c_str()), -ENAMETOOLONG);
}

TEST(ProcessStart, IsWhenTheProgramBeganOrALittleBefore) {
  constexpr std::time_t kMostTooEarly = 4;
  EXPECT_LE(process_start_s(), g_start);
  EXPECT_GE(process_start_s(), g_start - kMostTooEarly - 1);  // and a second for the loader
}

}  // namespace
}  // namespace jitquill
