// Threads that come and go: each has its calls, its beginning and its end.
#include <gtest/gtest.h>
#include <limits.h>

#include "tests/host/run/call_tree.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using run_files::tree;
using test_support::TempFolder;

// The kernel may give a number again: then a column of the file has both threads' calls.
void expect_threads(const std::string& what, unsigned count, const std::string& expected,
                    const std::string& options) {
  const TempFolder folder;
  test_support::Child child(with_agent(folder, THREADS_HOST, {what, std::to_string(count)},
                                       "formats=calls hooks=* policy=lossless " + options));
  const auto ended = child.wait(120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  const auto file = run_files::calls(folder);
  unsigned begins = 0, ends = 0;
  for (const auto& [name, thread] : file.threads) {
    begins += thread.begins;
    ends += thread.ends;
    std::string all = expected;
    for (unsigned i = 1; i < thread.begins; ++i) all += " " + expected;
    ASSERT_EQ(tree(thread), all) << name;
  }
  EXPECT_EQ(begins, count);
  EXPECT_EQ(ends, count);
}

TEST(ShortThreads, HaveAllTheirCalls) {
  expect_threads("short", times(1'000, 50'000), "f(g)", "");
}

TEST(ShortThreads, NeedLittleMemory) {
  expect_threads("short", 1'000, "f(g)", "memory=1300k");
}

TEST(ShortThreads, AreTracedInTheDestructorsOfTheirData) {
  std::string expected = "f g";
  for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS; ++i) expected += " h";
  expect_threads("destructors", times(200, 10'000), expected, "");
}

}  // namespace
