// What an interpreter enters and leaves by the C API comes out as exact trees.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using calls_reader::Call;
using calls_reader::Thread;
using test_support::TempFolder;

struct Expected {
  const char* name;
  unsigned depth;
  const char* how;
};

// Of one round, in the order of entries.
constexpr Expected kRound[] = {
    {"main", 0, ""}, {"f", 1, ""}, {"g", 2, ""}, {"f", 1, ""},        {"g", 2, ""},
    {"f", 1, ""},    {"g", 2, ""}, {"f", 1, ""}, {"g", 2, "unwound"}, {"main", 1, ""},
};

void expect_rounds(const Thread& thread, std::size_t rounds) {
  ASSERT_EQ(thread.calls.size(), rounds * std::size(kRound));
  for (std::size_t i = 0; i < thread.calls.size(); ++i) {
    const Call& call = thread.calls[i];
    const Expected& expected = kRound[i % std::size(kRound)];
    ASSERT_EQ(call.name, expected.name) << i;
    ASSERT_EQ(call.depth, expected.depth) << i;
    ASSERT_EQ(call.how, expected.how) << i;
  }
}

void expect_rounds_of_all(const TempFolder& folder, std::size_t rounds, std::size_t threads) {
  const auto file = run_files::calls(folder);
  ASSERT_EQ(file.threads.size(), threads + 1);  // the first only posts
  for (const auto& [name, thread] : file.threads) {
    if (thread.calls.empty()) continue;
    expect_rounds(thread, rounds);
    --threads;
  }
  EXPECT_EQ(threads, 0u);
}

void run_interpreter(const TempFolder& folder, std::size_t rounds, std::size_t threads,
                     const std::string& options) {
  test_support::Child child(with_agent(folder, INTERPRETER_HOST,
                                       {std::to_string(rounds), std::to_string(threads)},
                                       "formats=calls,counts hooks=* " + options));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
}

TEST(Interpreter, GivesTheSameTreeEachRound) {
  const TempFolder folder;
  constexpr std::size_t kRounds = 1000;
  run_interpreter(folder, kRounds, 1, "");
  const auto file = run_files::calls(folder);
  ASSERT_EQ(file.threads.size(), 2u);  // the first only posts
  std::size_t events = 0;
  for (const auto& [name, thread] : file.threads) {
    events += thread.events.size();
    if (thread.calls.empty()) continue;
    expect_rounds(thread, kRounds);
    EXPECT_EQ(thread.begins, 1u);
    EXPECT_EQ(thread.ends, 1u);
  }
  EXPECT_EQ(events, 1u);
}

TEST(Interpreter, CountsTheSame) {
  const TempFolder folder;
  constexpr std::size_t kRounds = 50'000;
  run_interpreter(folder, kRounds, 2, "");
  const auto rows = run_files::counts(folder);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at("main").calls, 4 * kRounds);
  EXPECT_EQ(rows.at("f").calls, 8 * kRounds);
  EXPECT_EQ(rows.at("g").calls, 8 * kRounds);
  EXPECT_EQ(rows.at("g").place, "/src/program.lang:20");
  EXPECT_GT(rows.at("main").total_ns, rows.at("f").total_ns);
}

// Less memory than a few chunks: threads wait for the drain.
TEST(Interpreter, LosesNothingWithLittleMemory) {
  const TempFolder folder;
  run_interpreter(folder, 20'000, 3, "memory=1300k");
  expect_rounds_of_all(folder, 20'000, 3);
}

// The limit is of the files that can go on in another folder.
TEST(Interpreter, LosesNothingWhereFoldersHaveALimit) {
  const TempFolder folder;
  run_interpreter(folder, 5'000, 1, "max_bytes=64k");
  expect_rounds_of_all(folder, 5'000, 1);
}

TEST(Interpreter, IsToldOnceWhyThereIsNoRoomForItsEvents) {
  const TempFolder folder;
  const std::string limited = "ulimit -f 900; exec " + std::string(INTERPRETER_HOST) + " 10 1";
  test_support::Child child(with_agent(folder, "/bin/sh", {"-c", limited}, "formats=calls,counts hooks=*"));
  const auto ended = child.wait(60);
  EXPECT_EQ(ended.exit_code, 3);  // the id is 0
  const std::string line = "no events of functions: ";
  const std::size_t at = ended.err.find(line);
  ASSERT_NE(at, ended.err.npos) << ended.err;
  EXPECT_EQ(ended.err.find(line, at + 1), ended.err.npos) << ended.err;
  EXPECT_NE(ended.err.find("a smaller memory= may do"), ended.err.npos) << ended.err;
  EXPECT_EQ(ended.err.find("done"), ended.err.npos) << ended.err;
}

TEST(Interpreter, IsNotTracedWhereNoPatternNamesIt) {
  const TempFolder folder;
  test_support::Child child(
      with_agent(folder, INTERPRETER_HOST, {"10", "1"}, "formats=calls,counts hooks=nothing"));
  EXPECT_EQ(child.wait(60).exit_code, 3);  // the id is 0
}

}  // namespace
