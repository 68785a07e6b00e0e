// How a run ends: with the host's exit code or signal, and what is the command's own.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/host/cli/cli.hpp"

namespace cli_test {
namespace {

using test_support::Ended;
using test_support::TempFolder;

class CliEnd : public testing::Test {
 protected:
  Ended run(const std::vector<std::string>& words) { return run_jitquill(folder_, words); }
  TempFolder folder_;
};

TEST_F(CliEnd, IsTheHosts) {
  for (const int code : {1, 7, 125, 255}) {
    const Ended ended = run({"run", "-q", "--", "sh", "-c", "exit " + std::to_string(code)});
    EXPECT_EQ(ended.exit_code, code) << ended.describe();
    EXPECT_EQ(ended.err, "");
  }
  const Ended ended = run({"run", "-q", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(ended.out, test_support::read_text(PROGRAMS "/sieve.out"));
}

TEST_F(CliEnd, IsTheHostsSignal) {
  for (const int signal : {SIGTERM, SIGSEGV, SIGKILL}) {
    const Ended ended = run({"run", "-q", "--", "sh", "-c", "kill -" + std::to_string(signal) + " $$"});
    EXPECT_EQ(ended.signal, signal) << ended.describe();
  }
  EXPECT_TRUE(test_support::files_below(folder_.path(), "core", "").empty());
}

TEST_F(CliEnd, OfASuccessThatRecordedNothingIsOne) {
  const Ended ended = run({"run", "--", "true"});
  EXPECT_EQ(ended.exit_code, 1) << ended.describe();
  EXPECT_NE(ended.err.find("missing: no JIT told of code"), std::string::npos) << ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(CliEnd, IsTheHostsWhereNothingWasToBeRecorded) {
  const Ended ended = run({"run", "--formats", "none", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_NE(ended.err.find("missing: formats=none"), std::string::npos) << ended.err;
}

TEST_F(CliEnd, TellsWhatCannotBeStarted) {
  Ended ended = run({"run", "--", "no-such-program"});
  EXPECT_EQ(ended.exit_code, 127) << ended.describe();
  EXPECT_EQ(ended.err, "jitquill: cannot run no-such-program: No such file or directory\n");
  std::ofstream(folder_.file("text")) << "text\n";
  ended = run({"run", "--", "./text"});
  EXPECT_EQ(ended.exit_code, 126) << ended.describe();
  EXPECT_EQ(ended.err, "jitquill: cannot run ./text: Permission denied\n");
}

TEST_F(CliEnd, SaysWhyNothingComesIntoAStaticProgram) {
  const Ended ended = run({"run", "--", STATIC_HOST});
  EXPECT_NE(ended.err.find("is linked statically"), std::string::npos) << ended.describe();
}

// A script's interpreter counts; a program with more rights than its user takes nothing in.
TEST_F(CliEnd, SaysWhyNothingComesIntoAProgramWithMoreRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a program to another user";
  const std::string copy = folder_.file("setuid");
  std::filesystem::copy_file("/bin/true", copy);
  ASSERT_EQ(chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  std::ofstream(folder_.file("script")) << "#!" << copy << "\n";
  ASSERT_EQ(chmod(folder_.file("script").c_str(), 0755), 0);
  for (const std::string& host : {copy, folder_.file("script")}) {
    const Ended ended = run({"run", "--", host});
    EXPECT_EQ(ended.exit_code, 1) << ended.describe();
    EXPECT_NE(ended.err.find(copy + " runs with more rights than its user"), std::string::npos) << ended.err;
  }
}

TEST_F(CliEnd, LeavesStdinToTheHost) {
  std::ofstream(folder_.file("in")) << "one\ntwo\n";
  const Ended ended = test_support::run({.words = {"sh", "-c", JITQUILL_COMMAND " run -q -- cat <in"},
                                         .environment = {},
                                         .folder = folder_.path()});
  EXPECT_EQ(ended.out, "one\ntwo\n") << ended.describe();
}

// Nothing of ours holds the host's output open, and no process of ours stays.
TEST_F(CliEnd, LeavesNothingBehind) {
  const auto open_files = [this](const std::string& before) {
    return test_support::run({.words = {"sh", "-c", before + " sh -c 'ls /proc/self/fd | wc -l' | cat"},
                              .environment = {{"TMPDIR", folder_.path()}},
                              .folder = folder_.path()})
        .out;
  };
  EXPECT_EQ(open_files(JITQUILL_COMMAND " run -q --"), open_files(""));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace cli_test
