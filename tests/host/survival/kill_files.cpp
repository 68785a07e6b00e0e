#include "tests/host/survival/kill_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kill_files {
namespace {

using calls_reader::Call;
using kill_record::Progress;
using kill_record::Tally;

// What a level has in the file.
struct Found {
  std::vector<std::string> names;
  std::uint64_t ended = 0;  // as its thread did it
  std::vector<std::string> posts;
};

// Does what the host did, on paper.
struct OnPaper {
  const unsigned thread;
  const unsigned level;
  std::vector<std::string> names = {};
  std::vector<std::string> posts = {};

  void put(char sort) {
    const unsigned function = kill_record::function_of(thread, level, names.size());
    names.push_back(sort + std::to_string(level) + "_" + std::to_string(function));
  }
  void call() { put('j'); }
  void enter(unsigned) { put('i'); }
  void leave(unsigned) {}
  void post() {
    posts.push_back("event " + std::to_string(kill_record::kFirstEvent + level) + ", " +
                    std::to_string(kill_record::post_size(posts.size())) + " bytes");
  }
};

void expect_between(std::uint64_t found, const Tally& tally, const std::string& what) {
  EXPECT_GE(found, tally.done.load()) << what;
  EXPECT_LE(found, tally.begun.load()) << what;
}

using Texts = std::vector<std::string>;

// From the first on, or up to one of those that were not made for sure.
void expect_same(const Texts& found, const Texts& made, const Tally& tally, bool newest,
                 const std::string& where) {
  if (!newest) {
    ASSERT_LE(found.size(), made.size()) << where;
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], made[i]) << where << " " << i;
    return;
  }
  bool is_same = false;
  for (std::uint64_t end = tally.done; end <= tally.begun; ++end)
    is_same |= found.size() <= end &&
               std::equal(found.begin(), found.end(), made.begin() + static_cast<long>(end - found.size()));
  EXPECT_TRUE(is_same) << where << ": the newest " << found.size();
}

void expect_level(const Found& found, const Progress& progress, unsigned thread, unsigned level,
                  bool newest) {
  const std::string where = "thread " + std::to_string(thread) + ", level " + std::to_string(level);
  const kill_record::Level& tallies = progress.threads[thread].levels[level];
  if (!newest) {
    expect_between(found.names.size(), tallies.entries, where + ": entries");
    expect_between(found.ended, tallies.ends, where + ": ends");
    expect_between(found.posts.size(), tallies.posts, where + ": posts");
  }
  OnPaper made{thread, level};
  for (std::uint64_t step = 0;
       made.names.size() < tallies.entries.begun || made.posts.size() < tallies.posts.begun; ++step)
    kill_record::do_step(step, made);
  expect_same(found.names, made.names, tallies.entries, newest, where + ", entry");
  expect_same(found.posts, made.posts, tallies.posts, newest, where + ", post");
}

void expect_thread(const calls_reader::Thread& calls, const Progress& progress, unsigned thread,
                   bool newest) {
  Found found[kill_record::kLevels];
  for (const Call& call : calls.calls) {
    ASSERT_TRUE(call.how.empty() || call.how == "process end") << call.name << ": " << call.how;
    Found& level = found[call.name.at(1) - '0'];
    level.names.push_back(call.name);
    level.ended += call.how.empty() ? 1 : 0;
  }
  for (const calls_reader::Event& event : calls.events)
    found[event.words.at(9) - '0'].posts.push_back(event.words);
  for (unsigned level = 0; level < kill_record::kLevels; ++level)
    expect_level(found[level], progress, thread, level, newest);
  // Of what the kill cut, a post being up to six records, and a pad in front of it most of a block.
  if (!newest) {
    EXPECT_LE(calls.lost, kill_record::kLevels * 330);
  }
}

void expect_counts(const calls_reader::File& file, const test_support::TempFolder& folder) {
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [name, row] : run_files::counts(folder)) counted[name] = row.calls;
  EXPECT_EQ(counted, file.calls_by_name());
}

void expect(const Progress& progress, const test_support::TempFolder& folder, bool newest) {
  const auto file = run_files::calls(folder);
  EXPECT_TRUE(file.has_end);
  for (unsigned thread = 0; thread < kill_record::kThreads; ++thread) {
    const int tid = progress.threads[thread].tid.load();
    if (tid == 0) continue;
    const std::string end = "-" + std::to_string(tid);
    calls_reader::Thread none;
    const calls_reader::Thread* found = &none;
    for (const auto& [name, calls] : file.threads)
      if (name.ends_with(end)) found = &calls;
    expect_thread(*found, progress, thread, newest);
  }
  expect_counts(file, folder);
}

}  // namespace

void expect_all(const Progress& progress, const test_support::TempFolder& folder) {
  expect(progress, folder, false);
}

void expect_newest(const Progress& progress, const test_support::TempFolder& folder) {
  expect(progress, folder, true);
}

void expect_sum(const Progress& progress, const test_support::TempFolder& folder) {
  std::uint64_t made = 0, found = 0;
  for (const auto& thread : progress.threads) {
    for (const auto& level : thread.levels) made += level.entries.done + level.ends.done + level.posts.done;
  }
  const auto file = run_files::calls(folder);
  for (const auto& [name, thread] : file.threads) {
    found += thread.calls.size() + thread.events.size();
    for (const Call& call : thread.calls) found += call.how.empty() ? 1 : 0;
  }
  const auto stats = run_files::stats(folder);
  const std::uint64_t lost = stats.at("run_records_lost");
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(file.lost(), lost);  // each has its place
  const std::uint64_t all = found + stats.at("run_ends_unpaired") + lost;
  EXPECT_GE(all, made);
  EXPECT_LE(all, made + kill_record::kThreads);  // the ends of threads, where they are lost
  expect_counts(file, folder);
}

}  // namespace kill_files
