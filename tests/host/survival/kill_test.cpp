// A killed process loses nothing that its threads had told, but what each was about to tell.
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <filesystem>
#include <random>

#include "tests/host/survival/kill_files.hpp"

namespace {

using kill_record::Progress;
using test_support::Child;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

constexpr std::uint32_t kMostEntries = 100'000;

void kill_at(const Progress& progress, std::uint64_t target) {
  kill_record::kill_at(progress, target, [&] {
    const int host = progress.pid.load();
    if (host > 0) ::kill(host, SIGKILL);
  });
}

Ended jitquill(const TempFolder& folder, const std::string& verb, const std::string& where) {
  return test_support::run(
      {.words = {JITQUILL_COMMAND, verb, where}, .environment = {}, .folder = folder.path()});
}

// Kills recoveries at random moments, until one comes to its end.
Ended recover_with_kills(const TempFolder& folder, const std::string& output, std::mt19937& random) {
  for (long most_us = 3'000;; most_us += 2'000) {
    Child child({.words = {JITQUILL_COMMAND, "recover", output}, .environment = {}, .folder = folder.path()});
    const timespec pause = {0, 1'000 * static_cast<long>(random() % static_cast<unsigned long>(most_us))};
    nanosleep(&pause, nullptr);
    child.signal(SIGKILL);
    const Ended ended = child.wait(60);
    if (ended.signal != SIGKILL) return ended;
  }
}

struct Case {
  std::uint64_t target;
  std::string threads;
  std::string memory;
};

Case some_case(std::mt19937& random) {
  static const char* const kMemories[] = {"1300k", "4M", "64M"};
  return {1 + random() % kMostEntries, std::to_string(1 + random() % kill_record::kThreads),
          kMemories[random() % std::size(kMemories)]};
}

std::string text_of(const Case& the_case) {
  return std::to_string(the_case.target) + " entries, " + the_case.threads +
         " threads, memory=" + the_case.memory;
}

class RunSurvives : public testing::Test {
 protected:
  // Where the calls are, and with them the link to the lanes.
  static std::string output(const TempFolder& folder) {
    return std::filesystem::path(run_files::only(folder, "calls")).parent_path();
  }
  std::mt19937 random_{2026};
};

TEST_F(RunSurvives, SigkillAtAnyMoment) {
  for (unsigned round = times(10, 200); round > 0; --round) {
    const Case the_case = some_case(random_);
    SCOPED_TRACE(text_of(the_case));
    const TempFolder folder;
    const std::string shared = folder.file("progress");
    const Progress* const progress = kill_record::map(shared.c_str());
    ASSERT_NE(progress, nullptr);
    Child child(with_agent(folder, KILL_HOST, {shared, the_case.threads, "0"},
                           "formats=calls,counts hooks=* memory=" + the_case.memory));
    kill_at(*progress, the_case.target);
    EXPECT_EQ(child.wait(30).signal, SIGKILL);
    const Ended ended = round % 2 == 0 ? jitquill(folder, "recover", output(folder))
                                       : recover_with_kills(folder, output(folder), random_);
    // Killed between folder and link, it leaves the link alone.
    const bool has_only_link = ended.out.find("no lanes there") != std::string::npos;
    EXPECT_TRUE(ended.succeeded() || has_only_link) << ended.describe();
    kill_files::expect_all(*progress, folder);
    run_files::expect_no_memory(child.pid());
    if (HasFailure()) return;
  }
}

TEST_F(RunSurvives, SigkillUnderTheCommandWhichRecovers) {
  for (unsigned round = times(10, 200); round > 0; --round) {
    const Case the_case = some_case(random_);
    SCOPED_TRACE(text_of(the_case));
    const TempFolder folder;
    const std::string shared = folder.file("progress");
    const Progress* const progress = kill_record::map(shared.c_str());
    ASSERT_NE(progress, nullptr);
    Child child({.words = {JITQUILL_COMMAND, "run", "-q", "--formats", "calls,counts", "--hooks", "*",
                           "--memory", the_case.memory, "--", KILL_HOST, shared, the_case.threads, "0"},
                 .environment = {},
                 .folder = folder.path()});
    kill_at(*progress, the_case.target);
    const Ended ended = child.wait(60);
    EXPECT_EQ(ended.signal, SIGKILL) << ended.describe();
    kill_files::expect_all(*progress, folder);
    run_files::expect_no_lanes(progress->pid.load());
    if (HasFailure()) return;
  }
}

// What is there is the newest of each.
TEST_F(RunSurvives, SigkillInFlight) {
  for (unsigned round = times(5, 100); round > 0; --round) {
    const Case the_case = some_case(random_);
    SCOPED_TRACE(text_of(the_case));
    const TempFolder folder;
    const std::string shared = folder.file("progress");
    const Progress* const progress = kill_record::map(shared.c_str());
    ASSERT_NE(progress, nullptr);
    Child child(with_agent(folder, KILL_HOST, {shared, the_case.threads, "0"},
                           "formats=calls,counts hooks=* policy=flight memory=" + the_case.memory));
    kill_at(*progress, the_case.target);
    EXPECT_EQ(child.wait(30).signal, SIGKILL);
    const Ended ended = jitquill(folder, "recover", output(folder));
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    kill_files::expect_newest(*progress, folder);
    run_files::expect_no_lanes(child.pid());
    if (HasFailure()) return;
  }
}

TEST_F(RunSurvives, WithoutAKillNothingIsMissing) {
  const TempFolder folder;
  const std::string shared = folder.file("progress");
  const Progress* const progress = kill_record::map(shared.c_str());
  ASSERT_NE(progress, nullptr);
  Child child(with_agent(folder, KILL_HOST, {shared, "3", "5000"}, "formats=calls,counts hooks=*"));
  const Ended ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  kill_files::expect_all(*progress, folder);
}

// Somebody else took the lanes away meanwhile: that is no success.
TEST_F(RunSurvives, IsNotSaidToBeRecoveredWithoutItsLanes) {
  const TempFolder folder;
  const std::string shared = folder.file("progress");
  const Progress* const progress = kill_record::map(shared.c_str());
  ASSERT_NE(progress, nullptr);
  Child child(with_agent(folder, KILL_HOST, {shared, "1", "0"}, "formats=calls hooks=*"));
  kill_at(*progress, 1'000);
  EXPECT_EQ(child.wait(30).signal, SIGKILL);
  std::filesystem::remove_all(std::filesystem::read_symlink(output(folder) + "/lanes"));
  const Ended ended = jitquill(folder, "recover", output(folder));
  EXPECT_EQ(ended.exit_code, 1) << ended.describe();
  EXPECT_NE(ended.out.find("no lanes there"), std::string::npos) << ended.out;
}

}  // namespace
