// An eventlog whose process is killed can be read as it is, and recovered it has all that `calls` has.
#include <gtest/gtest.h>

#include <random>

#include "tests/host/eventlog/log_files.hpp"
#include "tests/host/survival/kill_and_recover.hpp"

namespace {

using eventlog_reader::File;
using eventlog_reader::Rule;
using test_support::TempFolder;

// What a process that is killed while it writes leaves.
bool is_of_a_kill(const eventlog_reader::Violation& violation) {
  return violation.rule == Rule::kTorn || violation.rule == Rule::kEnd || violation.rule == Rule::kBlock;
}

std::string expect_readable(const TempFolder& folder) {
  std::string path = log_files::only(folder);
  for (const auto& violation : eventlog_reader::read_file(path).violations)
    EXPECT_TRUE(is_of_a_kill(violation)) << eventlog_reader::describe({violation});
  return path;
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
    kill_record::kill_and_recover(folder, target, "formats=calls,eventlog hooks=* memory=4M",
                                  expect_readable);
    expect_same_as_calls(folder);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
