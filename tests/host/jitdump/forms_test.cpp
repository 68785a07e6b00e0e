// Code that is told in other forms than frame events, and code that moves, in the dump.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

constexpr std::uint64_t kPage = 4096;

class JitdumpForms : public testing::Test {
 protected:
  void SetUp() override {
    const Ended ended = run(with_agent(folder_, FORMS_HOST, {}));
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    memory_ = std::strtoull(ended.out.c_str(), nullptr, 16);
    functions_ = only_dump(folder_).functions;
  }
  std::vector<Function> named(const std::string& name) const {
    std::vector<Function> found;
    std::copy_if(functions_.begin(), functions_.end(), std::back_inserter(found),
                 [&](const Function& function) { return function.name == name; });
    return found;
  }

  TempFolder folder_;
  std::uint64_t memory_ = 0;
  std::vector<Function> functions_;
};

TEST_F(JitdumpForms, ACompilersTablesAreTheFunctionsOwn) {
  const auto functions = named("with_eh_frame");
  ASSERT_EQ(functions.size(), 1u);
  ASSERT_TRUE(functions[0].unwinding);
  const auto* before = row_at(*functions[0].unwinding, 0);
  const auto* after = row_at(*functions[0].unwinding, 1);
  ASSERT_NE(before, nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(before->cfa_offset, 8);
  EXPECT_EQ(after->cfa_offset, 16);
  ASSERT_EQ(named("without_entry").size(), 1u);
  EXPECT_FALSE(named("without_entry")[0].unwinding);
}

TEST_F(JitdumpForms, FramePointersAreAStub) {
  const auto functions = named("with_frame_pointers");
  ASSERT_EQ(functions.size(), 1u);
  ASSERT_TRUE(functions[0].unwinding);
  EXPECT_TRUE(functions[0].unwinding->frame_pointers);
}

TEST_F(JitdumpForms, TrapsStandForWhatCannotBeRead) {
  const auto functions = named("half_unreadable");
  ASSERT_EQ(functions.size(), 1u);
  const auto& code = functions[0].code;
  ASSERT_EQ(code.size(), 64u);
  EXPECT_EQ(code[1], 4);
  EXPECT_TRUE(
      std::all_of(code.begin() + 2, code.begin() + 32, [](std::uint8_t byte) { return byte == 0x90; }));
  EXPECT_TRUE(std::all_of(code.begin() + 32, code.end(), [](std::uint8_t byte) { return byte == 0xCC; }));
}

TEST_F(JitdumpForms, MovedCodeIsAnnouncedAgainWithItsLines) {
  const auto functions = named("moved");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].address, memory_ + 4 * kPage);
  EXPECT_EQ(functions[1].address, memory_ + 4 * kPage + 1024);
  EXPECT_NE(functions[0].index, functions[1].index);
  ASSERT_EQ(functions[1].lines.size(), 3u);
  EXPECT_EQ(functions[1].lines[0].line, 7u);
  EXPECT_EQ(functions[1].lines[1].address, functions[1].address + 32);
  EXPECT_EQ(functions[1].lines[1].file, "/src/forms.src");
  ASSERT_EQ(named("unmovable").size(), 1u);
}

TEST_F(JitdumpForms, CodeThatMayBeUnreadableMayBeSoWhereItMoved) {
  const auto functions = named("moved_unreadable");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].code.at(1), 7);
  EXPECT_EQ(functions[1].address, memory_ + 6 * kPage);
  EXPECT_EQ(std::count(functions[1].code.begin(), functions[1].code.end(), 0xCC), 64);
}

}  // namespace
