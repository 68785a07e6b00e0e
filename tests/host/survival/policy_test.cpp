// What the three policies keep where memory is short, of hosts whose events are known.
#include <gtest/gtest.h>

#include "tests/host/survival/kill_files.hpp"
#include "tests/host/survival/words.hpp"

namespace {

using kill_record::Progress;
using test_support::TempFolder;

class Policies : public testing::Test {
 protected:
  // 1300k is 250 KiB beside the table of lanes: 16,000 records, of 300,000.
  const Progress& run(const std::string& options) {
    const std::string shared = folder_.file("progress");
    const Progress* const progress = kill_record::map(shared.c_str());
    test_support::Child child(with_agent(folder_, KILL_HOST,
                                         {shared, "3", std::to_string(times(20'000, 500'000))},
                                         "formats=calls,counts hooks=* memory=1300k " + options));
    const auto ended = child.wait(120);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.out + ended.err, "");
    run_files::expect_no_lanes(child.pid());
    return *progress;
  }
  std::string log() const { return test_support::read_text(run_files::only(folder_, "log")); }

  TempFolder folder_;
};

TEST_F(Policies, LosslessWaits) {
  const Progress& progress = run("policy=lossless");
  kill_files::expect_all(progress, folder_);
  EXPECT_EQ(run_files::stats(folder_).at("run_records_lost"), 0u);
}

TEST_F(Policies, DropCountsAndPlacesWhatItDrops) {
  const Progress& progress = run("policy=drop");
  kill_files::expect_sum(progress, folder_);
  EXPECT_NE(log().find("memory="), std::string::npos) << log();
}

TEST_F(Policies, FlightKeepsTheNewestAndCountsTheRest) {
  const Progress& progress = run("policy=flight");
  kill_files::expect_newest(progress, folder_);
  kill_files::expect_sum(progress, folder_);
}

// In flight nobody drains until the end.
TEST(Flight, HasNoThreadOfOurs) {
  const TempFolder folder;
  const auto host = [&](const std::string& policy) {
    test_support::Child child(words::command(folder, {"new:a", "call:a:10", "tasks"}, "policy=" + policy));
    return child.wait(60).out;
  };
  EXPECT_EQ(host("flight"), "1 tasks\n");
  EXPECT_EQ(host("lossless"), "2 tasks\n");
}

// Not because of the memory of dead threads.
TEST(Flight, KeepsTheNewestOfManyThreads) {
  const TempFolder folder;
  std::vector<std::string> said = {"new:a", "new:last"};
  for (int i = 0; i < 200; ++i) said.emplace_back("thread:a:100");
  said.emplace_back("thread:last:100");
  const auto outputs = words::run(folder, said, "policy=flight memory=1300k");
  ASSERT_EQ(outputs.size(), 1u);
  const auto last = outputs[0].calls.find("last");
  ASSERT_NE(last, outputs[0].calls.end());
  EXPECT_EQ(last->second, 100u);
}

}  // namespace
