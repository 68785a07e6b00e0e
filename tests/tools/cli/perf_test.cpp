// jitquill perf, from one command line to perf's report.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tests/host/cli/cli.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using test_support::Ended;
using test_support::TempFolder;

class CliPerf : public testing::Test {
 protected:
  void SetUp() override {
    const TempFolder trial;
    if (const std::string reason = perf_run::why_not(trial); !reason.empty()) GTEST_SKIP() << reason;
  }
  Ended perf(std::vector<std::string> words, const std::string& path = "") {
    words.insert(words.begin(), "perf");
    auto command = jitquill(folder_, words);
    command.environment.push_back({"DEBUGINFOD_URLS", ""});
    command.environment.push_back({"TMPDIR", folder_.path()});
    if (!path.empty()) command.environment.push_back({"PATH", path});
    return test_support::run(command, 120);
  }
  TempFolder folder_;
};

TEST_F(CliPerf, ReportsJittedFunctionsByName) {
  const Ended ended = perf({"--", DEMO_JIT, "--tier1", program("sieve")});
  ASSERT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_TRUE(ended.out.starts_with(test_support::read_text(PROGRAMS "/sieve.out"))) << ended.out;
  const std::regex line(R"( +[0-9.]+% +demo-jit +jitted-[0-9]+-1\.so +\[\.\] sieve)");
  EXPECT_TRUE(std::regex_search(ended.out, line)) << ended.describe();
  EXPECT_NE(ended.err.find("jitquill: 1 process, 2 functions"), std::string::npos) << ended.err;
  // The command that it names shows more: the callers.
  const std::size_t next = ended.err.find("next: ");
  ASSERT_NE(next, std::string::npos) << ended.err;
  const Ended report = test_support::run(
      {.words = {"sh", "-c",
                 ended.err.substr(next + 6, ended.err.find('\n', next) - next - 6) + " --stdio | cat"},
       .environment = {{"HOME", folder_.path()}, {"DEBUGINFOD_URLS", ""}},
       .folder = "/"});
  EXPECT_NE(report.out.find("--nib::run"), std::string::npos) << report.describe();
}

TEST_F(CliPerf, LeavesItsFilesBesideTheProcessesAndNothingElsewhere) {
  ASSERT_EQ(perf({"-q", "--no-report", "--", DEMO_JIT, program("sieve")}).exit_code, 0);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"jitquill.data"});
  EXPECT_EQ(test_support::files_below(folder_.file("jitquill.data"), "perf.jit.data", "").size(), 1u);
  EXPECT_EQ(fs::read_symlink(folder_.file("jitquill.data/latest")).native().rfind("demo-jit-", 0), 0u);
}

TEST_F(CliPerf, HandsArgumentsToPerfRecordAndTheExitCodeBack) {
  const Ended ended = perf({"-q", "--no-report", "--perf-args", "-F", "499", "-e", "cpu-clock", "--", "sh",
                            "-c", DEMO_JIT " " PROGRAMS "/sieve.nib; exit 5"});
  EXPECT_EQ(ended.exit_code, 5) << ended.describe();
  EXPECT_EQ(ended.out, test_support::read_text(PROGRAMS "/sieve.out"));
  EXPECT_EQ(ended.err, "");
}

TEST_F(CliPerf, SaysWhatKeepsPerfFromRecordingAndRunsNothing) {
  const Ended wrong = perf({"--perf-args", "-e", "no-such-event", "--", "touch", "ran"});
  EXPECT_EQ(wrong.exit_code, 125) << wrong.describe();
  EXPECT_NE(wrong.err.find("kernel.perf_event_paranoid is "), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("Cure: "), std::string::npos) << wrong.err;
  const Ended missing = perf({"--", "/usr/bin/touch", "ran"}, "/nowhere");
  EXPECT_EQ(missing.exit_code, 125) << missing.describe();
  EXPECT_EQ(missing.err, "jitquill: perf is not installed: apt-get install linux-perf\n");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_EQ(perf({"--", "no-such-program"}).exit_code, 127);
}

}  // namespace
}  // namespace cli_test
