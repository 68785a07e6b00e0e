// A program whose own allocator is traced, and is what wakes the agent in a child.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

class TracedAllocator : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, TracedAllocator,
                         testing::Values("policy=lossless", "policy=flight", "stack=call_*"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::erase_if(name, [](char c) { return c == '=' || c == '_' || c == '*'; });
                           return name;
                         });

// Its first traced call comes while the allocator is locked: whatever the agent does then allocates nothing.
TEST_P(TracedAllocator, IsNotEnteredFromInsideItself) {
  const test_support::TempFolder folder;
  const std::string host = std::string(TROUBLE_HOSTS) + "/allocator";
  const auto ended =
      run(with_preload(folder, host, {}, std::string("formats=calls,counts hooks=call_* ") + GetParam()), 60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  std::size_t children = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/out")) {
    if (entry.is_symlink()) continue;
    const auto counts = run_files::counts_in(entry.path());
    EXPECT_TRUE(counts.contains("call_reserve")) << "in both";
    if (!counts.contains("call_in_child")) continue;
    EXPECT_EQ(counts.at("call_in_child").calls, 1'100u);
    ++children;
  }
  EXPECT_EQ(children, 1u);
}

}  // namespace
