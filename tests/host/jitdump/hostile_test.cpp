// The process around the agent does what it may do, and what it should not: neither the host nor the dump
// may come to harm.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using test_support::Ended;
using test_support::TempFolder;

class JitdumpDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(JitdumpDescriptors, ThatBecameTheHostsAreLeftAlone) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, DESCRIPTOR_HOST, {GetParam()}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  for (const std::string& file : dump_files(folder)) (void)judged(file);
}

INSTANTIATE_TEST_SUITE_P(Then, JitdumpDescriptors, testing::Values("announce", "stop", "fork"),
                         [](const auto& then) { return std::string(then.param); });

struct Limit {
  const char* limit;
  const char* signal;  // what the host does with it
  int least;           // functions that must come through
  int most;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class JitdumpLimits : public testing::TestWithParam<Limit> {};

// The host lives, what was announced is in the dump, the dump is whole, and what is missing was said.
TEST_P(JitdumpLimits, CostFunctionsAtMost) {
  const Limit& limit = GetParam();
  TempFolder folder;
  const bool asks_for_words = std::string(limit.limit).starts_with("stderr");
  auto command = with_agent(folder, LIMITS_HOST, {limit.limit, limit.signal},
                            asks_for_words ? "nosuch=1 verbose=1" : "");
  command.environment.push_back({"LSAN_OPTIONS", "detect_leaks=0"});  // it opens files at the end
  const Ended ended = run(command);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const int done = std::atoi(ended.out.c_str());
  EXPECT_GE(done, limit.least);
  EXPECT_LE(done, limit.most);
  const auto files = dump_files(folder);
  EXPECT_EQ(files.size(), done == 0 ? 0u : 1u);  // perf gives up all files for one without a header
  for (const std::string& file : files) EXPECT_EQ(judged(file).functions.size(), static_cast<unsigned>(done));
  if (std::string(limit.limit) == "fsize=5000") {
    const auto stats = test_support::files_below(folder.path(), "stats", "");
    ASSERT_EQ(stats.size(), 1u);
    const std::string text = contents(stats.front());
    EXPECT_NE(text.find("outputs_switched_off\t1\t"), std::string::npos) << text;
    EXPECT_NE(text.find("functions_lost\t3\t"), std::string::npos) << text;
    EXPECT_NE(text.find("functions_loaded\t" + std::to_string(done) + "\t"), std::string::npos) << text;
  }
  const bool has_room_for_words = !std::string(limit.limit).starts_with("fsize");  // stderr is a file here
  if (has_room_for_words) {
    EXPECT_EQ(ended.err.find("no output") != std::string::npos, done == 0) << ended.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, JitdumpLimits,
    testing::Values(Limit{"fsize=0", "default", 0, 0}, Limit{"fsize=20", "default", 0, 0},
                    Limit{"fsize=5000", "default", 5, 35}, Limit{"fsize=5000", "blocked", 5, 35},
                    Limit{"fsize=5000", "handled", 5, 35}, Limit{"nofile=3", "default", 0, 0},
                    Limit{"nofile=4", "default", 400, 400}, Limit{"nofile=8", "default", 400, 400},
                    Limit{"stderr=0", "default", 400, 400}, Limit{"stderr=0", "blocked", 400, 400},
                    Limit{"stderr=0", "handled", 400, 400}),
    [](const auto& limit) {
      std::string name = std::string(limit.param.limit) + "_" + limit.param.signal;
      name[name.find('=')] = '_';
      return name;
    });

// Then neither the log nor the statistics have a place.
TEST(JitdumpFullDisk, IsSaidOnStderrAndTheDumpIsWhole) {
  TempFolder folder;
  auto command = with_agent(folder, LIMITS_HOST, {"disk=65536", "default"});
  std::erase_if(command.environment,
                [](const auto& variable) { return variable.first == "JITQUILL_OPTIONS"; });
  const Ended ended = run(command);
  if (ended.exit_code == 77) GTEST_SKIP() << "no mounts here";
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(ended.err.find("switched off"), std::string::npos) << ended.err;
  const int done = std::atoi(ended.out.c_str());
  EXPECT_GT(done, 50);
  EXPECT_LT(done, 400);
  EXPECT_EQ(only_dump(folder).functions.size(), static_cast<unsigned>(done));
}

// The agent's tables are full then, at 40 different places.
TEST(JitdumpNoMemory, RefusesFunctionsAndTheHostGoesOn) {
  constexpr unsigned kChildren = 40;
  TempFolder folder;
  const Ended ended = run(with_agent(folder, MEMORY_HOST, {std::to_string(kChildren), "later"}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  const auto files = dump_files(folder);
  EXPECT_EQ(files.size(), kChildren);
  for (const std::string& file : files) EXPECT_GT(judged(file).functions.size(), 100u);
}

// The agent needs memory for its outputs then: it has each of them or does without.
TEST(JitdumpNoMemory, FromTheStartCostsOutputsAndTheHostGoesOn) {
  constexpr unsigned kChildren = 150;  // the last has 600 KiB, which is enough
  TempFolder folder;
  const Ended ended = run(with_agent(folder, MEMORY_HOST, {std::to_string(kChildren), "first"}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  std::size_t whole = 0;
  const auto files = dump_files(folder);
  for (const std::string& file : files) whole += judged(file).functions.size() == 20 ? 1 : 0;
  EXPECT_GT(whole, 10u);
  EXPECT_LT(whole, kChildren - 10u) << "memory was never short";
}

class JitdumpSmallStack : public testing::TestWithParam<const char*> {};

TEST_P(JitdumpSmallStack, IsEnough) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, STACK_HOST, {GetParam()}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(only_dump(folder).functions.size(), 2u);
  EXPECT_EQ(test_support::files_below(folder.path(), "log", "").size(), 1u);
  EXPECT_EQ(test_support::files_below(folder.path(), "stats", "").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Of, JitdumpSmallStack, testing::Values("thread", "handler"),
                         [](const auto& of) { return std::string(of.param); });

class JitdumpWrongPointer : public testing::TestWithParam<const char*> {};

// Its handler jumps out of the call; afterwards every thread announces as before.
TEST_P(JitdumpWrongPointer, IsTheHostsFaultAndNothingElse) {
  TempFolder folder;
  const char* const moves = std::string_view(GetParam()) == "moved_first" ? " move=record" : "";
  const Ended ended = run(with_agent(folder, JUMP_HOST, {GetParam()}, "inlining=1" + std::string(moves)), 20);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(only_dump(folder).functions.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(In, JitdumpWrongPointer,
                         testing::Values("bytes", "name", "file", "lines", "line_file", "frame", "eh_frame",
                                         "inline_rows", "inline_positions", "inline_function", "moved",
                                         "moved_first"),
                         [](const auto& in) { return std::string(in.param); });

}  // namespace
