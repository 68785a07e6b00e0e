// What a run says that it recorded: of its own processes, and of no others.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/host/cli/cli.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using test_support::Ended;
using test_support::TempFolder;

// Of one tier, so that each function is there once.
constexpr char kTwoNibs[] =
    DEMO_JIT " --tier1 " PROGRAMS "/sieve.nib; " DEMO_JIT " --tier1 " PROGRAMS "/nqueens.nib";

class CliSummary : public testing::Test {
 protected:
  Ended run(const std::vector<std::string>& words) { return run_jitquill(folder_, words); }

  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  // As node, which is somebody else's reader, reads it; empty if it is no JSON.
  static std::string in_json(const std::string& text, const std::string& expression) {
    const Ended ended = test_support::run(
        {.words = {"node", "-e",
                   "const j = JSON.parse(process.argv[1]); console.log(String(" + expression + "))", text},
         .environment = {},
         .folder = {}});
    return ended.succeeded() ? ended.out.substr(0, ended.out.find('\n')) : ended.describe();
  }
  static bool has_node() {
    return test_support::run({.words = {"node", "--version"}, .environment = {}, .folder = {}}).succeeded();
  }

  TempFolder folder_;
};

TEST_F(CliSummary, HasEachProcessWithItsFilesAndTheCommandThatReadsEach) {
  const Ended ended = run({"run", "--", "sh", "-c", kTwoNibs});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_TRUE(ended.err.starts_with("jitquill: 2 processes, ")) << ended.err;
  EXPECT_EQ(count(ended.err, "jitquill show "), 4u) << ended.err;
  for (const std::string& dump : test_support::files_below(folder_.path(), "jit-", ".dump"))
    EXPECT_EQ(count(ended.err, "jitquill show " + dump), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, "lost"), 0u) << ended.err;
}

TEST_F(CliSummary, HasNoProcessOfAnotherRun) {
  EXPECT_EQ(run({"run", "-q", "--", DEMO_JIT, program("sieve")}).exit_code, 0);
  // At the same time and place, but not of this run.
  const Ended ended =
      run({"run", "--", "sh", "-c",
           "JITQUILL_RUN_LIST= " DEMO_JIT " " PROGRAMS "/sieve.nib; " DEMO_JIT " " PROGRAMS "/sieve.nib"});
  EXPECT_TRUE(ended.err.starts_with("jitquill: 1 process, ")) << ended.err;
  EXPECT_EQ(test_support::files_below(folder_.path(), "jit-", ".dump").size(), 3u);
}

TEST_F(CliSummary, FindsFoldersWhereverTheOptionsPutThem) {
  const Ended ended = run({"run", "--dir", "%c/%p", "--", "sh", "-c", kTwoNibs});
  EXPECT_TRUE(ended.err.starts_with("jitquill: 2 processes, ")) << ended.err;
  auto elsewhere = jitquill(folder_, {"run", "--dir", "/proc/nowhere", "--", DEMO_JIT, program("sieve")});
  elsewhere.environment.push_back({"XDG_RUNTIME_DIR", ""});
  const Ended fallen_back = test_support::run(elsewhere);
  EXPECT_NE(fallen_back.err.find("jitquill: 1 process, "), std::string::npos) << fallen_back.err;
  EXPECT_NE(fallen_back.err.find("jitquill show " + folder_.path() + "/.cache/jitquill/"), std::string::npos)
      << fallen_back.err;
}

// In a shell: once there is a dump, or after some seconds.
constexpr char kAwaitDump[] =
    "i=0; while ! [ -s jitquill.data/demo*/*.dump ] && [ $i -lt 500 ]; do sleep 0.01; i=$((i+1)); done; ";

// Once a thread has chunks of lanes beyond its first.
constexpr char kAwaitLanes[] =
    "i=0; while ! [ -s jitquill.data/demo*/lanes/journal ] && [ $i -lt 500 ]; do sleep 0.01; i=$((i+1)); "
    "done; "
    "sleep 0.1; ";

TEST_F(CliSummary, CountsOffTheFilesOfAKilledProcess) {
  const Ended ended =
      run({"run", "--", "sh", "-c",
           std::string(DEMO_JIT " " PROGRAMS "/fannkuch.nib >out & ") + kAwaitDump + "kill -9 $!; wait $!"});
  EXPECT_EQ(ended.exit_code, 128 + SIGKILL) << ended.describe();
  EXPECT_EQ(count(ended.err, "jitquill: 1 process, "), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, "killed, or ended without a word"), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, " 0 functions"), 0u) << ended.err;
}

TEST_F(CliSummary, KnowsAProcessThatOutlivesTheRun) {
  const Ended ended = run({"run", "--", "sh", "-c",
                           std::string("echo 'fn main() { while true { } }' >loop.nib; "
                                       "timeout 30 " DEMO_JIT " loop.nib >/dev/null 2>&1 & ") +
                               kAwaitDump + "echo $!"});
  EXPECT_EQ(count(ended.err, "still running"), 1u) << ended.err;
  ASSERT_FALSE(ended.out.empty()) << ended.describe();
  kill(std::stoi(ended.out), SIGTERM);  // of timeout, which hands it on
}

TEST_F(CliSummary, OfAProcessThatFilledFoldersIsOne) {
  const Ended ended = run({"run", "--max-bytes", "64k", "--", DEMO_JIT, "--tier1", program("sieve")});
  EXPECT_TRUE(ended.err.starts_with("jitquill: 1 process, 2 functions")) << ended.err;
}

TEST_F(CliSummary, NamesThePerfMapOfThisRun) {
  const Ended ended = run({"run", "--formats", "perfmap", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(count(ended.err, "perf map, "), 1u) << ended.err;
  for (const auto& entry : fs::directory_iterator(folder_.file("jitquill.data"))) {
    const std::string name = entry.path().filename();
    const std::string pid = name.substr(name.rfind('-') + 1);
    if (!entry.is_symlink()) fs::remove("/tmp/perf-" + pid + ".map");
  }
}

TEST_F(CliSummary, SaysWhereAPerfMapMustLie) {
  const Ended ended =
      run({"run", "--formats", "perfmap", "--perfmap-at", "dir", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(count(ended.err, "bytes: cp " + folder_.file("jitquill.data")), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, "finds the map by itself"), 0u) << ended.err;
}

TEST_F(CliSummary, IsNotThereWhenQuiet) {
  const Ended ended = run({"run", "-q", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.exit_code, 0);
}

TEST_F(CliSummary, IsJsonOnStderrInAFileOrOnStdout) {
  if (!has_node()) GTEST_SKIP() << "no node to read JSON";
  const Ended on_stderr = run({"run", "--json", "--", "sh", "-c", std::string(kTwoNibs) + "; exit 3"});
  EXPECT_EQ(in_json(on_stderr.err, "[j.processes.length, j.functions, j.exit_code, j.signal]"), "2,5,3,");
  const Ended in_file = run({"run", "-q", "--json", "out.json", "--", DEMO_JIT, "--tier1", program("sieve")});
  EXPECT_EQ(in_file.err, "");
  const std::string text = test_support::read_text(folder_.file("out.json"));
  EXPECT_EQ(
      in_json(text, "[j.processes[0].statistics.functions_loaded, j.processes[0].state, j.missing.length]"),
      "2,ended,0");
  EXPECT_TRUE(fs::exists(in_json(text, "j.processes[0].files[0].path"))) << text;
  const Ended on_stdout = run({"run", "-q", "--json=-", "--", "true"});
  EXPECT_EQ(in_json(on_stdout.out, "[j.processes.length, j.missing.length]"), "0,1");
  const Ended full = run({"run", "-q", "--json", "/dev/full", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(full.exit_code, 125) << full.describe();
}

TEST_F(CliSummary, IsJsonWhateverTheNames) {
  if (!has_node()) GTEST_SKIP() << "no node to read JSON";
  const Ended ended = run({"run", "--json", "--", "true", "\"\\\n\x01\xC3\xA9 \xFF\xC3"});
  EXPECT_EQ(in_json(ended.err, "j.command[1]"), "\"\\");
  EXPECT_EQ(in_json(ended.err, "j.command[1].codePointAt(3) + ' ' + j.command[1].slice(4)"),
            "1 \xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_F(CliSummary, CountsCalls) {
  const Ended ended =
      run({"run", "--formats", "calls,counts", "--hooks", "*", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(count(ended.err, " functions, 2 calls, "), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, " events\n"), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, "missing"), 0u) << ended.err;
  if (!has_node()) GTEST_SKIP() << "no node to read JSON";
  const Ended json =
      run({"run", "--json", "--formats", "counts", "--hooks", "*", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(in_json(json.err,
                    "j.calls > 0 && j.calls == j.processes[0].calls && "
                    "j.calls == j.processes[0].statistics.run_calls && "
                    "j.events >= 2 * j.calls && j.events == j.processes[0].events"),
            "true")
      << json.err;
}

TEST_F(CliSummary, CountsCallsOfAKilledProcessThatItRecovered) {
  const Ended ended = run(
      {"run", "--formats", "counts", "--hooks", "*", "--", "sh", "-c",
       std::string(
           "echo 'fn one() -> int { return 1; } fn main() { while one() == 1 {} }' >endless.nib; " DEMO_JIT
           " endless.nib & ") +
           kAwaitLanes + "kill -9 $!; wait $!"});
  EXPECT_EQ(ended.exit_code, 128 + SIGKILL) << ended.describe();
  EXPECT_EQ(count(ended.err, " calls, killed, or ended without a word"), 1u) << ended.err;
}

TEST_F(CliSummary, DoesNotCallAKilledProcessesEventlogEmpty) {
  const Ended ended = run(
      {"run", "--formats", "eventlog", "--hooks", "*", "--", "sh", "-c",
       std::string(
           "echo 'fn one() -> int { return 1; } fn main() { while one() == 1 {} }' >endless.nib; " DEMO_JIT
           " endless.nib & ") +
           kAwaitLanes + "kill -9 $!; wait $!"});
  EXPECT_EQ(count(ended.err, "a process left no statistics"), 1u) << ended.err;
  EXPECT_EQ(count(ended.err, "no function is in them"), 0u) << ended.err;
}

TEST_F(CliSummary, NamesTheOptionThatAnEmptyOutputLacks) {
  const Ended ended = run({"run", "--formats", "calls", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(count(ended.err, "missing: formats=calls shows calls, which were not asked for: hooks='*'"), 1u)
      << ended.err;
  const Ended of_code = run({"run", "--formats", "eventlog", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(count(of_code.err, "missing:"), 0u) << of_code.err;
}

TEST_F(CliSummary, SaysThatHooksNameNothing) {
  const Ended ended =
      run({"run", "--formats", "counts", "--hooks", "of_another_program", "--", DEMO_JIT, program("sieve")});
  EXPECT_EQ(count(ended.err, "missing: no call was traced: hooks= named no function"), 1u) << ended.err;
}

TEST_F(CliSummary, SaysLossesOfCalls) {
  const Ended ended = run({"run", "--formats", "calls", "--hooks", "*", "--policy", "flight", "--memory",
                           "1300k", "--", DEMO_JIT, program("nqueens")});
  EXPECT_EQ(count(ended.err, " run_records_lost ("), 1u) << ended.err;
}

TEST_F(CliSummary, SaysWhatWasLost) {
  // A file size limit of 2 KiB: the second of two functions does not fit.
  const Ended ended =
      run({"run", "--", "sh", "-c", "ulimit -f 4; exec " DEMO_JIT " --tier1 " PROGRAMS "/sieve.nib"});
  EXPECT_NE(ended.err.find("lost: 1 functions_lost (functions that no output could write)"),
            std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace cli_test
