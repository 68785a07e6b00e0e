// An eventlog whose process is killed can be read as it is, and recovered it has all that `calls` has.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <filesystem>
#include <random>

#include "tests/host/eventlog/log_files.hpp"
#include "tests/host/survival/kill_record.hpp"

namespace {

using eventlog_reader::File;
using eventlog_reader::Rule;
using kill_record::Progress;
using test_support::TempFolder;

std::uint64_t entries(const Progress& progress) {
  std::uint64_t sum = 0;
  for (const auto& thread : progress.threads) {
    for (const auto& level : thread.levels) sum += level.entries.done.load();
  }
  return sum;
}

void kill_at(const Progress& progress, const test_support::Child& child, std::uint64_t target) {
  const time_t deadline = time(nullptr) + 60;
  while (entries(progress) < target && time(nullptr) < deadline) sched_yield();
  child.signal(SIGKILL);
}

// What a process that is killed while it writes leaves.
bool is_of_a_kill(const eventlog_reader::Violation& violation) {
  return violation.rule == Rule::kTorn || violation.rule == Rule::kEnd || violation.rule == Rule::kBlock;
}

void expect_readable(const TempFolder& folder) {
  for (const auto& violation : eventlog_reader::read_file(log_files::only(folder)).violations)
    EXPECT_TRUE(is_of_a_kill(violation)) << eventlog_reader::describe({violation});
}

// Both formats' bytes are in one commit.
void expect_same_as_calls(const TempFolder& folder) {
  const File file = log_files::whole(folder);
  const auto calls = run_files::calls(folder);
  EXPECT_EQ(log_files::entries_by_name(file), calls.calls_by_name());
  std::size_t ends = log_files::numbered(file, log_files::kLeave).size();
  ends += log_files::numbered(file, log_files::kUnwound).size();
  std::size_t all = 0, posts = 0;
  for (const auto& [name, thread] : calls.threads) {
    all += thread.calls.size();
    posts += thread.events.size();
  }
  EXPECT_EQ(ends, all);
  EXPECT_EQ(log_files::numbered(file, log_files::kRuntimeEvent).size(), posts);
}

TEST(EventlogSurvives, SigkillAtAnyMoment) {
  std::mt19937 random(2026);
  for (unsigned round = times(10, 200); round > 0; --round) {
    const std::uint64_t target = 1 + random() % 40'000;
    SCOPED_TRACE(std::to_string(target) + " entries");
    const TempFolder folder;
    const std::string shared = folder.file("progress");
    const Progress* const progress = kill_record::map(shared.c_str());
    ASSERT_NE(progress, nullptr);
    test_support::Child child(
        with_agent(folder, KILL_HOST, {shared, "3", "0"}, "formats=calls,eventlog hooks=* memory=4M"));
    kill_at(*progress, child, target);
    EXPECT_EQ(child.wait(30).signal, SIGKILL);
    expect_readable(folder);
    const std::string output = std::filesystem::path(log_files::only(folder)).parent_path();
    const auto ended = test_support::run(
        {.words = {JITQUILL_COMMAND, "recover", output}, .environment = {}, .folder = folder.path()});
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    expect_same_as_calls(folder);
    run_files::expect_no_memory(child.pid());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
