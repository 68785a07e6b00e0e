// Where the folder of a process goes, as its host and its user see it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <jitquill/jitquill.h>
#include "tests/host/jitdump/agent_run.hpp"

namespace {

namespace fs = std::filesystem;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

constexpr char kDumpStart[] = "jit-";

class OutputsPlace : public testing::Test {
 protected:
  // The host starts in `folder`, with a home of its own.
  Command host_in(const std::string& folder, const std::string& options) {
    Command command = with_agent(temp_, FAMILY_HOST, {"0", "apart"});
    std::erase_if(command.environment,
                  [](const auto& variable) { return variable.first == "JITQUILL_OPTIONS"; });
    fs::create_directories(temp_.file("home"));
    command.environment.push_back({"HOME", temp_.file("home")});
    command.environment.push_back({"XDG_RUNTIME_DIR", ""});
    command.environment.push_back({"JITQUILL_OPTIONS", options});
    command.folder = folder;
    return command;
  }

  static std::size_t dumps_below(const std::string& folder) {
    return test_support::files_below(folder, kDumpStart, ".dump").size();
  }

  TempFolder temp_;
};

TEST_F(OutputsPlace, IsTheStartingFolderOfItself) {
  const Ended ended = run(host_in(temp_.path(), ""));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(dumps_below(temp_.file("jitquill.data")), 1u);
  EXPECT_TRUE(fs::is_symlink(temp_.file("jitquill.data/latest")));
}

// Nobody asked for the starting folder: the log says where the files are, stderr does not.
TEST_F(OutputsPlace, IsTheHomeWhereTheStartingFolderDoesNotDo) {
  const Ended ended = run(host_in("/proc", ""));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  const std::string place = temp_.file("home/.cache/jitquill");
  EXPECT_EQ(dumps_below(place), 1u);
  const auto logs = test_support::files_below(place, "log", "");
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_NE(test_support::read_text(logs[0]).find("output goes to " + place), std::string::npos);
}

TEST_F(OutputsPlace, ADirThatWasAskedForAndDoesNotDoIsSaidOnce) {
  const Ended ended = run(host_in(temp_.path(), "dir=/proc/nowhere verbose=1"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const std::string words = "dir=/proc/nowhere cannot be used: No such file or directory";
  const std::size_t first = ended.err.find(words);
  EXPECT_NE(first, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(words, first + 1), std::string::npos) << ended.err;
  EXPECT_EQ(dumps_below(temp_.file("home/.cache/jitquill")), 1u);
}

TEST_F(OutputsPlace, IsNotWhereFilesCannotBeMappedExecutable) {
  const std::string mounted = temp_.file("noexec");
  fs::create_directory(mounted);
  if (mount("none", mounted.c_str(), "tmpfs", MS_NOEXEC, "size=1m") != 0) GTEST_SKIP() << "no mounts here";
  const Ended ended = run(host_in(temp_.path(), "dir=" + mounted));
  const bool is_empty = fs::is_empty(mounted);
  umount(mounted.c_str());
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(ended.err.find("mounted noexec"), std::string::npos) << ended.err;
  EXPECT_TRUE(is_empty);
  EXPECT_EQ(dumps_below(temp_.file("home/.cache/jitquill")), 1u);
}

TEST_F(OutputsPlace, IsElsewhereWhereADiskIsReadOnly) {
  const std::string mounted = temp_.file("readonly");
  fs::create_directory(mounted);
  if (mount("none", mounted.c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0) GTEST_SKIP() << "no mounts here";
  const Ended ended = run(host_in(mounted, ""));
  umount(mounted.c_str());
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(dumps_below(temp_.file("home/.cache/jitquill")), 1u);
}

// Two containers whose processes have the same number may write into one dir: as if they had been there
// before.
TEST_F(OutputsPlace, EqualPidsInOneDirAreToldApart) {
  const Command command = host_in(temp_.path(), "dir=%c/all");
  const std::string by_pid =
      "unshare -rpf --mount-proc=/proc sh -c 'exec \"$0\" 0 apart' " + command.words[0];
  Command contained = command;
  contained.words = {"sh", "-c", by_pid};
  for (int i = 0; i < 2; ++i) {
    const Ended ended = run(contained);
    if (ended.err.find("unshare") != std::string::npos) GTEST_SKIP() << ended.err;
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
  }
  std::set<std::string> folders;
  for (const auto& file : test_support::files_below(temp_.path(), kDumpStart, ".dump")) {
    EXPECT_EQ(fs::path(file).filename(), "jit-1.dump");
    EXPECT_EQ(judged(file).functions.size(), 5u);
    folders.insert(fs::path(file).parent_path().filename());
  }
  EXPECT_EQ(folders, (std::set<std::string>{"outputs_family_host-1", "outputs_family_host-1.1"}));
}

// Whoever starts it could choose what it writes where.
TEST_F(OutputsPlace, AProgramWithMoreRightsThanItsUserWritesNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
  struct statvfs mounted {};
  ASSERT_EQ(statvfs(temp_.path().c_str(), &mounted), 0);
  if ((mounted.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "temporary files give nobody more rights here";
  fs::permissions(temp_.path(), fs::perms::all);
  const std::string program = temp_.file("program");
  fs::copy_file(LINKED_HOST, program);
  Command command = host_in(temp_.path(), "dir=" + temp_.file("out"));
  command.words = {"setpriv", "--reuid=65534", "--clear-groups", program};
  Ended ended = run(command);
  if (!ended.succeeded()) GTEST_SKIP() << "another user cannot run our programs here: " << ended.err;
  EXPECT_EQ(ended.out, "0 0 0\n");
  EXPECT_EQ(dumps_below(temp_.file("out")), 1u);
  fs::remove_all(temp_.file("out"));
  fs::permissions(program, fs::perms::set_uid, fs::perm_options::add);
  ended = run(command);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const std::string off = std::to_string(JITQUILL_OFF);
  EXPECT_EQ(ended.out, off + " " + off + " " + off + "\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(fs::exists(temp_.file("out")));
}

// The files stay whole though their folder is gone; the host hears nothing of it, and its children make
// another.
TEST_F(OutputsPlace, MayVanish) {
  Command command = host_in(temp_.path(), "");
  command.words[1] = "20";
  test_support::Child host(command);
  // Between two of its children, none of which is just making its folder.
  while (dumps_below(temp_.file("jitquill.data")) == 0) usleep(100);
  host.signal(SIGSTOP);
  usleep(300'000);
  fs::rename(temp_.file("jitquill.data"), temp_.file("gone"));
  host.signal(SIGCONT);
  const Ended ended = host.wait(30);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  const auto all = dump_files(temp_);
  EXPECT_EQ(all.size(), 21u);
  for (const std::string& file : all) EXPECT_FALSE(judged(file).functions.empty()) << file;
}

// One word on stderr, however many folders follow each other.
TEST_F(OutputsPlace, ADirThatDoesNotDoIsNotSaidAgainForEachFolder) {
  Command command = host_in(temp_.path(), "dir=/proc/nowhere max_bytes=64k");
  command.words = {FILL_HOST, "1000", "5", "unloaded"};
  const Ended ended = run(command);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_GT(dumps_below(temp_.file("home/.cache/jitquill")), 3u);
}

TEST_F(OutputsPlace, WhereNoPlaceDoesTheHostGoesOn) {
  const std::string user = "65534", private_place = "/tmp/jitquill-" + user, mounted = temp_.file("noexec");
  if (geteuid() != 0 || fs::exists(private_place)) GTEST_SKIP() << "only root can take all places away";
  fs::create_directory(mounted);
  if (mount("none", mounted.c_str(), "tmpfs", MS_NOEXEC | MS_RDONLY, "size=1m") != 0)
    GTEST_SKIP() << "no mounts here";
  fs::permissions(temp_.path(), fs::perms::all);
  fs::create_directory(private_place);  // of another user
  Command command = host_in(temp_.path(), "dir=" + mounted);
  command.environment.push_back({"HOME", "/nonexistent"});
  command.words.insert(command.words.begin(), {"setpriv", "--reuid=" + user, "--clear-groups"});
  const Ended ended = run(command);
  fs::remove(private_place);
  umount(mounted.c_str());
  EXPECT_EQ(ended.exit_code, 3) << ended.describe();  // the host's own: its announcement was refused
  EXPECT_NE(ended.err.find("no output"), std::string::npos) << ended.err;
}

}  // namespace
