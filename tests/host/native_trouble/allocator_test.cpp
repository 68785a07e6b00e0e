// A program whose own allocator is traced, and is what wakes the agent in a child.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

class TracedAllocator : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, TracedAllocator,
                         testing::Values("policy=lossless", "policy=flight", "stack=call_*"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::erase_if(name, [](char c) { return c == '=' || c == '_' || c == '*'; });
                           return name;
                         });

void expect_whole(const TempFolder& folder, const std::string& options,
                  const std::vector<std::string>& arguments, std::uint64_t calls = 1'100) {
  const std::string host = std::string(TROUBLE_HOSTS) + "/allocator";
  const auto ended =
      run(with_preload(folder, host, arguments, "formats=calls,counts hooks=call_* " + options), 60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  std::size_t children = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/out")) {
    if (entry.is_symlink()) continue;
    const auto counts = run_files::counts_in(entry.path());
    EXPECT_TRUE(counts.contains("call_reserve")) << "in both";
    if (!counts.contains("call_in_child")) continue;
    EXPECT_EQ(counts.at("call_in_child").calls, calls);
    ++children;
  }
  EXPECT_EQ(children, 1u);
}

// Its first traced call comes while the allocator is locked: whatever the agent does then allocates nothing.
TEST_P(TracedAllocator, IsNotEnteredFromInsideItself) {
  expect_whole(TempFolder(), GetParam(), {});
}

std::string folder_of_libraries(const TempFolder& folder) {
  constexpr int kLibraries = 40;  // the C library has room for some 15 more than there were at the start
  for (int i = 0; i < kLibraries; ++i)
    std::filesystem::copy(TROUBLE_HOSTS "/thread_variable.so", folder.file(std::to_string(i) + ".so"));
  return folder.path();
}

// Nor where the C library has no thread's stack left over from the parent that would do for another.
TEST_P(TracedAllocator, IsNotEnteredFromInsideItselfWhereThreadsNeedMemory) {
  const TempFolder libraries;
  expect_whole(TempFolder(), GetParam(), {folder_of_libraries(libraries)});
}

// A thread that the child does not have might hold the allocator.
TEST_P(TracedAllocator, IsNotEnteredInAChildOfManyThreads) {
  const TempFolder libraries;
  expect_whole(TempFolder(), GetParam(), {folder_of_libraries(libraries), "and a thread"});
}

// More calls than the memory holds: somebody writes meanwhile.
TEST(TracedAllocatorOfManyThreads, IsLeftAloneUntilTheChildMakesAThread) {
  const TempFolder libraries;
  expect_whole(TempFolder(), "policy=lossless memory=2M",
               {folder_of_libraries(libraries), "and a thread", "200000"}, 201'000);
}

}  // namespace
