// A handler that interrupts traced code anywhere, and is traced itself, loses nothing.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/host/run/call_tree.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

using Counts = std::map<std::string, std::uint64_t>;

// What the host says that it did.
Counts run_timer(const TempFolder& folder, unsigned milliseconds, const char* spins, const std::string& stack,
                 const std::string& options) {
  test_support::Child child(with_agent(folder, TIMER_HOST, {std::to_string(milliseconds), "2", spins, stack},
                                       "hooks=* policy=lossless " + options));
  const auto ended = child.wait(120);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  Counts done;
  std::istringstream lines(ended.out);
  std::string name;
  for (std::uint64_t count = 0; lines >> name >> count;) done[name] = count;
  EXPECT_GT(done["handler"], milliseconds / 10);  // 10 in a millisecond, if the machine has time for them
  return done;
}

class Timer : public testing::TestWithParam<const char*> {};

TEST_P(Timer, LosesNoCall) {
  const TempFolder folder;
  const Counts done = run_timer(folder, times(300, 20'000), "0", GetParam(), "formats=counts");
  Counts counted;
  for (const auto& [name, row] : run_files::counts(folder)) counted[name] = row.calls;
  EXPECT_EQ(counted, done);
}

TEST_P(Timer, HasItsCallsAsTreesInWhatItInterrupted) {
  const TempFolder folder;
  const Counts done = run_timer(folder, times(200, 5'000), "5000", GetParam(), "formats=calls");
  const auto file = run_files::calls(folder);
  EXPECT_EQ(file.calls_by_name(), done);
  const std::map<std::string, std::set<std::string>> callers = {
      {"main", {""}}, {"inner", {"handler"}}, {"steps", {"main", "steps"}}};
  std::uint64_t inside = 0;
  for (const auto& [name, thread] : file.threads) {
    for (const auto& call : thread.calls) {
      ASSERT_EQ(call.how, "") << call.name;
      const std::string caller = call.caller == calls_reader::kNone ? "" : thread.calls[call.caller].name;
      if (call.name == "handler") {
        inside += caller.empty() ? 0 : 1;
      } else {
        EXPECT_TRUE(callers.at(call.name).contains(caller)) << call.name << " in " << caller;
      }
    }
  }
  EXPECT_GT(inside, 0u);
}

INSTANTIATE_TEST_SUITE_P(Handlers, Timer, testing::Values("here", "aside"),
                         [](const auto& stack) { return std::string(stack.param); });

}  // namespace
