// Where the preload is found, and where the loader ignores it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "tests/host/leave/both_ways.hpp"

namespace {

namespace fs = std::filesystem;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

// Both libraries, as an installation has them.
std::string install_into(const fs::path& folder) {
  fs::create_directories(folder);
  for (const fs::path library : {JITQUILL_PRELOAD, JITQUILL_AGENT})
    fs::copy(library, folder / library.filename());
  return folder / fs::path(JITQUILL_PRELOAD).filename();
}

void preload(Command& command, const std::string& library) {
  for (auto& [name, value] : command.environment) {
    if (name == "LD_PRELOAD") value = library;
  }
}

// What the loader puts for $LIB: "lib/x86_64-linux-gnu".
std::string loaders_lib() {
  const Ended ended = test_support::run({{"/lib64/ld-linux-x86-64.so.2", "--list-diagnostics"}, {}, ""});
  const std::string key = "dl_dst_lib=\"";
  const std::size_t at = ended.out.find(key);
  if (at == std::string::npos) return "";
  const std::size_t from = at + key.size();
  return ended.out.substr(from, ended.out.find('"', from) - from);
}

TEST(LeavePreload, IsFoundByTheLoadersLib) {
  const std::string lib = loaders_lib();
  if (lib.empty()) GTEST_SKIP() << "the loader does not say what $LIB is";
  TempFolder folder;
  const std::string library = install_into(folder.file("prefix/" + lib));
  Command command = with_preload(folder, EXIT_HOST, {"_exit"});
  preload(command, folder.file("prefix/$LIB/") + fs::path(library).filename().string());
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 7) << ended.describe();
  EXPECT_EQ(ended.err, "");
  const auto left = left_behind(folder);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_TRUE(left[0].has_counted_all());
}

TEST(LeavePreload, DoesNothingToAStaticProgram) {
  const BothWays run = run_both_ways(PLAIN_HOST, {});
  EXPECT_EQ(run.ended.exit_code, 7) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "plain\n");
  EXPECT_TRUE(run.left.empty());
}

// A copy of the host that anybody may run, in a folder that anybody may write to.
class LeavePreloadOfAnotherUser : public testing::Test {
 protected:
  void SetUp() override {
    if (getuid() != 0) GTEST_SKIP() << "not root: cannot become another user";
    chmod(folder_.path().c_str(), 0777);
    library_ = install_into(folder_.file("lib"));
    fs::copy(EXIT_HOST, host_);
  }
  Ended run_as_nobody() {
    Command command = with_preload(folder_, "setpriv",
                                   {"--reuid=65534", "--regid=65534", "--clear-groups", host_, "_exit"});
    preload(command, library_);
    return test_support::run(command);
  }

  TempFolder folder_;
  std::string library_;
  std::string host_ = folder_.file("host");
};

TEST_F(LeavePreloadOfAnotherUser, WorksAsForUs) {
  const Ended ended = run_as_nobody();
  EXPECT_EQ(ended.exit_code, 7) << ended.describe();
  EXPECT_EQ(left_behind(folder_).size(), 1u);
}

TEST_F(LeavePreloadOfAnotherUser, DoesNothingToASetuidProgram) {
  struct statvfs place = {};
  if (statvfs(host_.c_str(), &place) == 0 && (place.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "nosuid";
  chmod(host_.c_str(), 04755);
  const Ended ended = run_as_nobody();
  EXPECT_EQ(ended.exit_code, 7) << ended.describe();
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(left_behind(folder_).empty());
}

}  // namespace
