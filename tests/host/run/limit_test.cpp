// What a host pays for outputs that cannot grow: nothing.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

// 1: no file at all. 6000: stats fit, whose own writing would take the signal that another output caused.
TEST(FileSizeLimit, EndsNoHost) {
  for (const char* bytes : {"1", "6000", "20000"}) {
    const TempFolder folder;
    test_support::Child child(with_agent(folder, LIMIT_HOST, {bytes}, "formats=calls,counts hooks=*"));
    const auto ended = child.wait(60);
    EXPECT_TRUE(ended.succeeded()) << bytes << ": " << ended.describe();
    EXPECT_EQ(ended.out, "") << bytes;
    // What the log has no room for is said on stderr, a file too: "jitquill[...".
    EXPECT_EQ(ended.err, std::string(bytes) == "1" ? "j" : "") << bytes;
  }
}

// Files that have their whole size from the start on, and those beside: 1,500 KiB hold the lanes and no
// databases.
TEST(FileSizeLimit, AtTheStartEndsNoHost) {
  const TempFolder folder;
  test_support::Child child(
      with_agent(folder, LIMIT_HOST, {"1536000", "from_start"}, "formats=oprofile hooks=* memory=1300k"));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

TEST(FileSizeLimit, IsCounted) {
  const TempFolder folder;
  test_support::Child child(with_agent(folder, LIMIT_HOST, {"10000"}, "formats=calls,counts hooks=*"));
  ASSERT_TRUE(child.wait(60).succeeded());
  EXPECT_GT(run_files::stats(folder).at("write_errors"), 0u);
  (void)run_files::counts(folder);  // the other output is whole
}

}  // namespace
