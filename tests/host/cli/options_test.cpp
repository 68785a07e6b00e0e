// The options are the agent's: its table, its words, its judgement.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/cli/cli.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using test_support::Ended;
using test_support::TempFolder;

class CliOptions : public testing::Test {
 protected:
  Ended run(const std::vector<std::string>& options, const std::string& inherited = "") {
    std::vector<std::string> words{"run", "-q"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", DEMO_JIT, program("sieve")});
    auto command = jitquill(folder_, words);
    if (!inherited.empty()) command.environment.push_back({"JITQUILL_OPTIONS", inherited});
    return test_support::run(command);
  }
  std::size_t dumps_in(const std::string& name) const {
    return test_support::files_below(folder_.file(name), "jit-", ".dump").size();
  }
  TempFolder folder_;
};

TEST_F(CliOptions, GoToTheAgent) {
  const Ended ended = run({"--dir", "with a blank", "--max-bytes=64k", "--unwind", "off"});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(dumps_in("with a blank"), 1u);
}

TEST_F(CliOptions, MayHaveUnderscoresAndFlagsNoValue) {
  const Ended ended = run({"--max_bytes", "64k", "--verbose", "--inlining=1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(dumps_in("jitquill.data"), 1u);
}

TEST_F(CliOptions, WinOverThoseOfTheEnvironment) {
  EXPECT_EQ(run({"--dir", "ours"}, "dir=theirs unwind=gap").exit_code, 0);
  EXPECT_EQ(dumps_in("ours"), 1u);
  EXPECT_FALSE(fs::exists(folder_.file("theirs")));
  EXPECT_EQ(run({"--unwind", "off"}, "dir=theirs unwind=gap").exit_code, 0);
  EXPECT_EQ(dumps_in("theirs"), 1u);
}

TEST_F(CliOptions, AreRefusedOnceBeforeTheHostRuns) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--nonsense", "1"}, "unknown option --nonsense"},
      {{"--max-bytes", "12"}, "max_bytes='12': must be 0, for no limit, or at least 64k"},
      {{"--unwind=sideways"}, "unwind='sideways': must be twin, gap or off"},
      {{"--dir", "both ' and \""}, "dir: its value has both kinds of quotes in it"},
      {{"--dir"}, "--dir"},
      {{"--dir", std::string(5000, 'x')}, "path too long"},
      {{"stray"}, "what is stray?"},
  };
  for (const auto& [options, words] : wrong) {
    const Ended ended = run(options);
    EXPECT_EQ(ended.exit_code, 2) << ended.describe();
    EXPECT_EQ(ended.out, "");
    const std::size_t first = ended.err.find(words);
    EXPECT_NE(first, std::string::npos) << words << " is missing in " << ended.err;
    EXPECT_EQ(ended.err.find(words, first + 1), std::string::npos) << ended.err;
  }
}

TEST_F(CliOptions, OfTheEnvironmentAreJudgedToo) {
  const Ended ended = run({}, "dir='never ends");
  EXPECT_EQ(ended.exit_code, 2) << ended.describe();
  EXPECT_NE(ended.err.find("JITQUILL_OPTIONS: dir='never ends: the quote does not end"), std::string::npos)
      << ended.err;
}

TEST_F(CliOptions, AreInTheHelpEachOnce) {
  const Ended help = run_jitquill(folder_, {"run", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("--max-bytes"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("Usage: jitquill run [OPTIONS] -- PROGRAM"), std::string::npos) << help.out;
  for (const char* const format : {
#define SINK(name, ...) #name,
#define RUN_SINK(name, ...) #name,
#define LATER_SINK(name)
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK
       })
    EXPECT_NE(help.out.find("formats: " + std::string(format) + "  "), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("intakes: gdb"), std::string::npos) << help.out;
  EXPECT_EQ(help.err, "");
}

TEST_F(CliOptions, OfPerfAreInItsHelpAsTheyAreTyped) {
  const Ended help = run_jitquill(folder_, {"perf", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* const words : {"[--perf-args ARGUMENTS...] -- PROGRAM", "--no-report  "})
    EXPECT_NE(help.out.find(words), std::string::npos) << words << " is missing in " << help.out;
}

TEST_F(CliOptions, TellTheVersion) {
  const Ended ended = run_jitquill(folder_, {"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(ended.out.starts_with("jitquill ")) << ended.describe();
}

TEST_F(CliOptions, AndTheProgramMustBeThere) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"run"}, {"run", "--"}, {"run", "true"}, {}, {"dance"}, {"show", "--", "x"}}) {
    const Ended ended = run_jitquill(folder_, words);
    EXPECT_EQ(ended.exit_code, 2) << ended.describe();
    EXPECT_TRUE(ended.err.starts_with("jitquill: ")) << ended.err;
  }
}

}  // namespace
}  // namespace cli_test
