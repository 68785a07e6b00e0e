// Forked children: what their own files hold, by the options that say so.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include <jitquill/jitquill.h>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;
using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

using Numbers = std::set<std::uint32_t>;

struct Member {
  int pid = 0;
  std::uint32_t number = 0;
  int status = 0;
};

class OutputsFamily : public testing::Test {
 protected:
  std::vector<Member> run_with(const std::string& options, unsigned children,
                               const std::string& where = "apart") {
    Child host(with_agent(folder_, FAMILY_HOST, {std::to_string(children), where}, options));
    parent_ = host.pid();
    const Ended ended = host.wait(120);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.err, "");
    std::vector<Member> members;
    std::istringstream lines(ended.out);
    for (Member member; lines >> member.pid >> member.number >> member.status;) members.push_back(member);
    EXPECT_EQ(members.size(), children);
    return members;
  }

  // What the only dump of a process holds; nothing if it made none.
  Numbers functions_of(int pid) const {
    const auto files = test_support::files_below(folder_.path(), "jit-" + std::to_string(pid) + ".", "dump");
    EXPECT_LE(files.size(), 1u);
    Numbers numbers;
    if (files.empty()) return numbers;
    const Dump dump = judged(files.front());
    EXPECT_EQ(dump.header.pid, static_cast<std::uint32_t>(pid));
    for (const Function& function : dump.functions) {
      const std::uint32_t i = number_of(function);
      EXPECT_EQ(differences(function, i), "");
      EXPECT_TRUE(numbers.insert(i).second) << i << " twice";
    }
    return numbers;
  }

  TempFolder folder_;
  int parent_ = 0;
};

TEST_F(OutputsFamily, EachHasWhatItMade) {
  for (const Member& child : run_with("", 2)) {
    EXPECT_EQ(child.status, JITQUILL_OK);
    EXPECT_EQ(functions_of(child.pid), (Numbers{10'000 + child.number}));
  }
  EXPECT_EQ(functions_of(parent_), (Numbers{0, 1, 2, 3, 4, 100, 101}));
}

TEST_F(OutputsFamily, AThreadMayFork) {
  for (const Member& child : run_with("reannounce=1", 3, "thread"))
    EXPECT_EQ(functions_of(child.pid).size(), 5 + child.number);
  EXPECT_EQ(functions_of(parent_), (Numbers{0, 1, 2, 3, 4, 100, 101, 102}));
}

TEST_F(OutputsFamily, AChildAnnouncesWhatItInheritedIfAsked) {
  for (const Member& child : run_with("reannounce=1", 2)) {
    Numbers wanted{0, 2, 3, 4, 10'000 + child.number};
    if (child.number == 1) wanted.insert(100);
    EXPECT_EQ(functions_of(child.pid), wanted);
  }
  EXPECT_EQ(functions_of(parent_), (Numbers{0, 1, 2, 3, 4, 100, 101}));
}

// Readers go by the stamps: what was there before must not come after what took its place.
TEST_F(OutputsFamily, WhatIsAnnouncedAgainIsOlderThanWhatIsNew) {
  for (const Member& child : run_with("reannounce=1", 2, "over")) {
    const auto files =
        test_support::files_below(folder_.path(), "jit-" + std::to_string(child.pid) + ".", "dump");
    ASSERT_EQ(files.size(), 1u);
    const Dump dump = judged(files.front());
    ASSERT_GE(dump.functions.size(), 2u);
    for (std::size_t i = 1; i < dump.functions.size(); ++i)
      EXPECT_GT(dump.functions[i].when, dump.functions[i - 1].when) << i;
    EXPECT_EQ(number_of(dump.functions.back()), 10'000 + child.number);
  }
}

TEST_F(OutputsFamily, ChildrenLeaveNothingIfAsked) {
  for (const Member& child : run_with("children=off formats=jitdump,gdb", 2)) {
    EXPECT_EQ(child.status, JITQUILL_OFF);
    EXPECT_TRUE(functions_of(child.pid).empty());
  }
  EXPECT_EQ(functions_of(parent_), (Numbers{0, 1, 2, 3, 4, 100, 101}));
}

TEST_F(OutputsFamily, ManyChildren) {
  const unsigned children = times(50, 500);
  const auto members = run_with("reannounce=1", children);
  for (const Member& child : members)
    EXPECT_EQ(functions_of(child.pid).size(), 5u + child.number) << child.number;
}

}  // namespace
