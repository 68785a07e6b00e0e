// Signal stacks may be as small as the kernel lets them be: hooks need little more.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

struct Row {
  const char* way;
  const char* stacks;
  unsigned room;  // bytes, for the handler's functions and their hooks
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.way << " " << row.stacks << " " << row.room;
}

class SmallStacks : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, SmallStacks,
                         testing::Values(Row{"fentry", "", 1'024}, Row{"pg", "", 1'024},
                                         Row{"fentry", " stack=*", 3'072}, Row{"pg", " stack=*", 3'072}),
                         [](const auto& row) {
                           return std::string(row.param.way) + (*row.param.stacks != '\0' ? "_stacks" : "");
                         });

TEST_P(SmallStacks, HoldTheFirstHooksOfAThread) {
  const test_support::TempFolder folder;
  const std::string host = std::string(TROUBLE_HOSTS) + "/small_stack_" + GetParam().way;
  const auto ended = run(with_preload(folder, host, {std::to_string(GetParam().room)},
                                      std::string("formats=counts hooks=call_*") + GetParam().stacks));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(run_files::counts(folder).at("call_leaf").calls, 3u);
  EXPECT_EQ(run_files::counts(folder).at("call_handler").calls, 3u);
  EXPECT_EQ(run_files::stats(folder).at("run_records_lost"), 0u);
}

}  // namespace
