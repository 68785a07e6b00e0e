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
  const auto files = log_files::all(folder);
  for (const std::string& path : files) {
    if (path == files.back() && std::filesystem::is_empty(path)) continue;  // it was about to begin
    for (const auto& violation : eventlog_reader::read_file(path).violations)
      EXPECT_TRUE(is_of_a_kill(violation)) << path << eventlog_reader::describe({violation});
  }
  return files.empty() ? "" : files[0];
}

// Both formats' bytes are in one commit.
void expect_same_as_calls(const TempFolder& folder) {
  const auto calls = run_files::calls(folder);
  std::map<std::string, std::uint64_t> entries;
  std::size_t ends = 0, told = 0;
  for (const File& file : log_files::all_whole(folder)) {
    for (const auto& [name, count] : log_files::entries_by_name(file)) entries[name] += count;
    ends += log_files::numbered(file, log_files::kLeave).size();
    ends += log_files::numbered(file, log_files::kUnwound).size();
    told += log_files::numbered(file, log_files::kRuntimeEvent).size();
  }
  EXPECT_EQ(entries, calls.calls_by_name());
  std::size_t all = 0, posts = 0;
  for (const auto& [name, thread] : calls.threads) {
    all += thread.calls.size();
    posts += thread.events.size();
  }
  EXPECT_EQ(ends, all);
  EXPECT_EQ(told, posts);
}

void kill_and_compare(unsigned rounds, const std::string& options) {
  std::mt19937 random(2026);
  for (; rounds > 0; --rounds) {
    const std::uint64_t target = 1 + random() % 40'000;
    SCOPED_TRACE(std::to_string(target) + " entries");
    const TempFolder folder;
    kill_record::kill_and_recover(folder, target, "formats=calls,eventlog hooks=* memory=4M " + options,
                                  expect_readable);
    expect_same_as_calls(folder);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(EventlogSurvives, SigkillAtAnyMoment) {
  kill_and_compare(times(10, 200), "");
}

TEST(EventlogSurvives, SigkillWhereItGoesOnInOtherFiles) {
  kill_and_compare(times(5, 200), "max_bytes=64k");
}

}  // namespace
