#include "agent/lanes/lane_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::lanes {
namespace {

class LaneFilesOf : public testing::Test {
 protected:
  LaneFilesOf() {
    std::filesystem::permissions(ours.path, std::filesystem::perms::owner_all);
    EXPECT_EQ(files.open(ours.path.c_str()), 0);
    std::ofstream(theirs.path / "code") << "theirs";
  }
  // As a host that closed all descriptors and has opened some since.
  void put_theirs_in_its_place() {
    const int other = ::open(theirs.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(dup2(other, files.handle()), files.handle());
    ::close(other);
  }

  TemporaryFolder ours, theirs;
  LaneFiles files;
};

TEST_F(LaneFilesOf, AreMadeAndTakenAwayInTheirFolder) {
  const int made = files.create("code");
  EXPECT_GT(made, 0);
  EXPECT_TRUE(std::filesystem::exists(ours.path / "code"));
  const int read = files.open_to_read("code");
  EXPECT_GT(read, 0);
  files.remove("code");
  EXPECT_TRUE(std::filesystem::is_empty(ours.path));
  ::close(made);
  ::close(read);
}

TEST_F(LaneFilesOf, TouchNothingInAFolderThatHasTheHandlesNumberNow) {
  const int number = files.handle();
  put_theirs_in_its_place();
  EXPECT_EQ(files.create("lanes"), -EBADF);
  EXPECT_EQ(files.open_to_read("code"), -EBADF);
  files.remove("code");
  files.close();
  EXPECT_TRUE(std::filesystem::exists(theirs.path / "code"));
  EXPECT_FALSE(std::filesystem::exists(theirs.path / "lanes"));
  EXPECT_NE(::fcntl(number, F_GETFD), -1) << "closed";
  ::close(number);
}

}  // namespace
}  // namespace jitquill::lanes
