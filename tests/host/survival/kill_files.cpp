#include "tests/host/survival/kill_files.hpp"

#include <gtest/gtest.h>

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
    posts.push_back("event " + std::to_string(level) + ", " +
                    std::to_string(kill_record::post_size(posts.size())) + " bytes");
  }
};

void expect_between(std::uint64_t found, const Tally& tally, const std::string& what) {
  EXPECT_GE(found, tally.done.load()) << what;
  EXPECT_LE(found, tally.begun.load()) << what;
}

void expect_level(const Found& found, const Progress& progress, unsigned thread, unsigned level) {
  const std::string where = "thread " + std::to_string(thread) + ", level " + std::to_string(level);
  const kill_record::Level& tallies = progress.threads[thread].levels[level];
  expect_between(found.names.size(), tallies.entries, where + ": entries");
  expect_between(found.ended, tallies.ends, where + ": ends");
  expect_between(found.posts.size(), tallies.posts, where + ": posts");
  OnPaper expected{thread, level};
  for (std::uint64_t step = 0;
       expected.names.size() < found.names.size() || expected.posts.size() < found.posts.size(); ++step)
    kill_record::do_step(step, expected);
  for (std::size_t i = 0; i < found.names.size(); ++i)
    ASSERT_EQ(found.names[i], expected.names[i]) << where << ", entry " << i;
  for (std::size_t i = 0; i < found.posts.size(); ++i)
    ASSERT_EQ(found.posts[i], expected.posts[i]) << where << ", post " << i;
}

void expect_thread(const calls_reader::Thread& calls, const Progress& progress, unsigned thread) {
  Found found[kill_record::kLevels];
  for (const Call& call : calls.calls) {
    ASSERT_TRUE(call.how.empty() || call.how == "process end") << call.name << ": " << call.how;
    Found& level = found[call.name.at(1) - '0'];
    level.names.push_back(call.name);
    level.ended += call.how.empty() ? 1 : 0;
  }
  for (const std::string& event : calls.events) found[event.at(6) - '0'].posts.push_back(event);
  for (unsigned level = 0; level < kill_record::kLevels; ++level)
    expect_level(found[level], progress, thread, level);
  // Of what the kill cut, a post being up to six records, and a pad in front of it most of a block.
  EXPECT_LE(calls.lost, kill_record::kLevels * 330);
}

}  // namespace

void expect_all(const Progress& progress, const test_support::TempFolder& folder) {
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
    expect_thread(*found, progress, thread);
  }
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [name, row] : run_files::counts(folder)) counted[name] = row.calls;
  EXPECT_EQ(counted, file.calls_by_name());
}

}  // namespace kill_files
