// A child with memory of its own writes nothing into its parent's lanes; one in its parent's memory does.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/call_tree.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using run_files::difference;
using run_files::tree;
using test_support::TempFolder;

// Several chunks' worth.
constexpr unsigned kCalls = 30'000;

std::string tree_of_parent(const TempFolder& folder, const std::string& how, unsigned calls) {
  test_support::Child child(with_agent(folder, CHILDREN_HOST, {how, std::to_string(calls)},
                                       "formats=calls hooks=* policy=lossless"));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
  return tree(run_files::only_thread(run_files::calls(folder)));
}

class OwnMemory : public testing::TestWithParam<const char*> {};

TEST_P(OwnMemory, LeavesTheParentsCallsAlone) {
  const TempFolder folder;
  EXPECT_EQ(difference(tree_of_parent(folder, GetParam(), kCalls), "parent parent parent"), "");
}

INSTANTIATE_TEST_SUITE_P(Children, OwnMemory, testing::Values("clone", "fork", "atfork"),
                         [](const auto& how) { return std::string(how.param); });

std::string with_child(unsigned calls, const std::string& last) {
  std::string inside;
  for (unsigned i = 0; i < calls; ++i) inside += " child";
  inside += last;
  return "parent parent(" + inside.substr(1) + ") parent";
}

TEST(SharedMemory, HasTheChildsCallsInTheParents) {
  const TempFolder folder;
  EXPECT_EQ(difference(tree_of_parent(folder, "vfork", kCalls), with_child(kCalls, "")), "");
}

TEST(SharedMemory, EndsWhatTheChildLeftOpen) {
  const TempFolder folder;
  EXPECT_EQ(difference(tree_of_parent(folder, "vfork-open", 5), with_child(5, " child!unwound")), "");
}

}  // namespace
