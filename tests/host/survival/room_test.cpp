// Full file systems: the host goes on, and what is missing is said.
#include <gtest/gtest.h>

#include "tests/host/survival/words.hpp"

namespace {

using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

class Room : public testing::Test {
 protected:
  // With a tmpfs of that size, as the shell says it, at `place`, in a mount namespace of its own.
  Ended run(const std::string& place, const std::string& size, const std::vector<std::string>& said,
            const std::string& options, const std::string& also = "") {
    Command command = words::command(folder_, said, options);
    const std::string script = "mount -t tmpfs -o size=" + size + " small " + place + " || exit 77; " + also +
                               "\"$@\"; s=$?; " + "cp -r " + folder_.file("out") + " " +
                               folder_.file("copy") + " 2>/dev/null; exit $s";
    std::vector<std::string> all = {"unshare", "-rm", "sh", "-c", script, "sh"};
    all.insert(all.end(), command.words.begin(), command.words.end());
    command.words = all;
    return test_support::run(command);
  }
  static bool may_mount() {
    return test_support::run({.words = {"unshare", "-rm", "true"}, .environment = {}, .folder = {}})
        .succeeded();
  }
  void SetUp() override {
    if (!may_mount()) GTEST_SKIP() << "no mount namespace here";
    std::filesystem::create_directory(folder_.file("out"));
  }
  std::string file(const std::string& name) const {
    const auto found = test_support::files_below(folder_.file("copy"), name, "");
    return found.empty() ? "" : test_support::read_text(found.front());
  }

  TempFolder folder_;
};

// Of the host's calls, some of which are lost.
const std::vector<std::string> kManyCalls = {"new:a", "call:a:300000", "tasks"};

TEST_F(Room, InTheLanesPlaceIsLittle) {
  for (const std::string policy : {"lossless", "drop", "flight"}) {
    SCOPED_TRACE(policy);
    const Ended ended = run("/dev/shm", "1m", kManyCalls, "policy=" + policy);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.out, policy == "flight" ? "1 tasks\n" : "2 tasks\n");
    EXPECT_EQ(ended.err, "");
    EXPECT_NE(file("calls").find("a();"), std::string::npos);
    EXPECT_NE(file("calls").find("# ended at"), std::string::npos);
    std::filesystem::remove_all(folder_.file("copy"));
    std::filesystem::remove_all(folder_.file("out"));
    std::filesystem::create_directory(folder_.file("out"));
  }
}

TEST_F(Room, InTheLanesPlaceIsNone) {
  const Ended ended =
      run("/dev/shm", "64k", kManyCalls, "", "head -c 1000000 /dev/zero >/dev/shm/full 2>/dev/null; ");
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(ended.err.find("no events of functions"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;  // once
}

TEST_F(Room, InTheOutputsPlaceIsLittle) {
  const Ended ended =
      run(folder_.file("out"), "1m", kManyCalls, "verbose=1");  // its log may have no room either
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(ended.err.find("calls: switched off after three failures in a row"), std::string::npos)
      << ended.err;
}

// Their files are made before the place is full.
TEST_F(Room, OutputsThatHaveNoneAreAllNamed) {
  const Ended ended = run(folder_.file("out"), "24k", {"new:a", "call:a:3", "tasks"},
                          "verbose=1 formats=eventlog,openj9,calls,counts,folded");
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  for (const std::string output : {"eventlog", "calls", "counts", "folded", "stats"}) {
    const auto found = test_support::files_below(folder_.file("copy"), "", output);
    ASSERT_FALSE(found.empty()) << output;
    if (!test_support::read_text(found.front()).empty()) continue;
    EXPECT_NE(ended.err.find(": " + output + ": not all"), std::string::npos) << output << "\n" << ended.err;
  }
}

}  // namespace
