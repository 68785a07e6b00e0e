// Programs whose shares are known are sampled: who was where, who called, and what could not be seen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "tests/host/sampling/sampled.hpp"

namespace {

using sampled::File;
using test_support::Command;
using test_support::TempFolder;

constexpr const char* kOptions = "formats=samples sample=4999 sample.stack=2k";
constexpr double kHz = 4999;
// Of what is known. A busy machine gives a short run its time unevenly.
const double kPoints = times(6, 3);

class Sampling : public testing::Test {
 protected:
  void SetUp() override {
    if (!sampled::can_sample()) GTEST_SKIP() << "this machine lets us open no perf event";
  }
};

void expect_shares(const File& file) {
  EXPECT_NEAR(file.share("seventy"), 70, kPoints);
  EXPECT_NEAR(file.share("twenty"), 20, kPoints);
  EXPECT_NEAR(file.share("ten"), 10, kPoints);
}

void expect_whole_stacks(const File& file, const std::string& outermost, double percent = 99) {
  EXPECT_GE(file.reaching(outermost), percent);
  EXPECT_LE(static_cast<double>(file.partial), (100 - percent) / 100 * static_cast<double>(file.samples));
}

struct Sampled {
  File file;
  double worked_s = 0;  // by all CPUs
};

// "worked N ns"
double worked_s(const std::string& out) {
  double ns = 0;
  const std::size_t at = out.rfind("worked ");
  if (at != out.npos) (void)std::sscanf(out.c_str() + at, "worked %lf ns", &ns);
  return ns / 1e9;
}

Sampled run(const TempFolder& folder, const std::string& way, unsigned rounds, unsigned threads = 1) {
  const auto ended = test_support::run(
      with_agent(folder, SAMPLING_HOST, {way, std::to_string(rounds), std::to_string(threads)}, kOptions));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  return {sampled::read(folder), worked_s(ended.out)};
}

// None is told twice, nor are many missing.
void expect_as_many(double samples, double worked_s) {
  EXPECT_GT(samples / (kHz * worked_s), 0.7);
  EXPECT_LT(samples / (kHz * worked_s), 1.2);
}

TEST_F(Sampling, ShowsKnownSharesAndWhoCalled) {
  const TempFolder folder;
  const Sampled all = run(folder, "alone", times(250, 6'000));
  expect_shares(all.file);
  expect_whole_stacks(all.file, "main");
  expect_whole_stacks(all.file, "compute");
  expect_as_many(static_cast<double>(all.file.samples + all.file.lost), all.worked_s);
}

TEST_F(Sampling, ShowsJittedFunctions) {
  const TempFolder folder;
  const auto ended =
      test_support::run(with_agent(folder, DEMO_JIT, {SHARES}, std::string(kOptions) + " sample.stack=8k"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const File file = sampled::read(folder);
  const double all = file.share("seventy") + file.share("twenty") + file.share("ten");
  EXPECT_NEAR(100 * file.share("seventy") / all, 70, kPoints);
  EXPECT_NEAR(100 * file.share("twenty") / all, 20, kPoints);
  expect_whole_stacks(file, "main");
}

TEST_F(Sampling, SeesThreadsThatComeAndGo) {
  for (const char* const way : {"threads", "ends"}) {
    const TempFolder folder;
    const Sampled all = run(folder, way, times(20, 300), 8);
    expect_whole_stacks(all.file, "thread_body", 90);  // they are made and end, too
    expect_as_many(static_cast<double>(all.file.samples + all.file.lost), all.worked_s);
  }
}

// Whose place another file has taken by the time that its samples are read, or its code is looked up.
TEST_F(Sampling, TellsFilesApartThatWereAtOnePlace) {
  const TempFolder folder;
  const auto ended = test_support::run(
      with_preload(folder, SAMPLING_HOST, {"reload", std::to_string(times(50, 500))}, kOptions));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const File file = sampled::read(folder);
  EXPECT_NEAR(file.share("earlier"), 50, 10);
  EXPECT_NEAR(file.share("later"), 50, 10);
}

// What the parent's events see must not be the child's, and the other way round.
TEST_F(Sampling, OfAForkIsInTheProcessThatRan) {
  const TempFolder folder;
  test_support::Child child(
      with_preload(folder, SAMPLING_HOST, {"fork", std::to_string(times(120, 3'000))}, kOptions));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::vector<File> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "samples" && !entry.path().parent_path().string().ends_with("latest"))
      files.push_back(sampled::read_in(entry.path().parent_path()));
  }
  ASSERT_EQ(files.size(), 2u);
  for (const File& file : files) expect_whole_stacks(file, "main");
  const auto taken = [](const File& file) { return static_cast<double>(file.samples + file.lost); };
  const double all = taken(files[0]) + taken(files[1]);
  EXPECT_NEAR(taken(files[0]) / all, 0.5, 0.15);
  expect_as_many(all / 2, worked_s(ended.out));  // both worked as much
}

struct Late {
  std::string output;
  File file;
  std::map<std::string, std::uint64_t> stats;
  std::string log;
};

// Sampling begins by a call, in a program that may write below the folder whoever it has become.
Late run_late(const TempFolder& folder, const std::string& way, unsigned rounds, unsigned threads = 1,
              const std::string& options = kOptions) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  Command command =
      with_agent(folder, SAMPLING_HOST, {way, std::to_string(rounds), std::to_string(threads)}, "");
  std::erase_if(command.environment, [](const auto& one) { return one.first == "JITQUILL_OPTIONS"; });
  command.environment.emplace_back("LATE_OPTIONS", options + " dir=" + folder.file("out"));
  const auto ended = test_support::run(command);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  Late late;
  late.output = std::filesystem::path(run_files::only(folder, "samples")).parent_path();
  late.file = sampled::read_in(late.output);
  late.stats = run_files::stats_in(late.output);
  late.log = sampled::log_in(late.output);
  return late;
}

TEST_F(Sampling, OfAnOrdinaryUserSees300ThreadsThatWereThere) {
  const TempFolder folder;
  const Late late =
      run_late(folder, "crowd", times(1, 10), 300, "formats=samples sample=999 sample.stack=1k");
  expect_whole_stacks(late.file, "thread_body", 90);
  const std::uint64_t refused = late.stats.at("sample_threads_refused");
  EXPECT_EQ(refused != 0, late.log.find("not sampled: ") != late.log.npos) << late.log;
  EXPECT_TRUE(refused != 0 || late.file.samples != 0);
}

TEST_F(Sampling, NamesTheLimitThatStandsInTheWay) {
  const TempFolder folder;
  const Late late = run_late(folder, "few", 1, 100);
  const std::uint64_t refused = late.stats.at("sample_threads_refused");
  EXPECT_GT(refused, 0u);
  EXPECT_NE(late.log.find(std::to_string(refused) + " threads are not sampled: "), late.log.npos) << late.log;
  EXPECT_NE(late.log.find("RLIMIT_NOFILE is 48 (ulimit -n)"), late.log.npos) << late.log;
}

TEST_F(Sampling, SaysThatPerfEventsAreForbidden) {
  const TempFolder folder;
  const Late late = run_late(folder, "forbidden", 1);
  EXPECT_EQ(late.file.samples, 0u);
  EXPECT_GT(late.stats.at("sample_threads_refused"), 0u);
  EXPECT_NE(late.log.find("nothing is sampled: perf events are forbidden here"), late.log.npos) << late.log;
}

TEST_F(Sampling, BeginsAgain) {
  const TempFolder folder;
  const auto ended = test_support::run(with_agent(folder, SAMPLING_HOST, {"again", "60"}, kOptions));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() != "samples") continue;
    ++files;
    expect_whole_stacks(sampled::read_file(entry.path()), "main", 90);
  }
  EXPECT_GE(files, 2u);
}

TEST_F(Sampling, SaysWhereItCannotBeSeen) {
  for (const auto& [options, words] :
       {std::pair("formats=calls sample=99 hooks=*", "none of the formats shows samples"),
        std::pair("formats=samples sample=99 policy=flight", "nothing is sampled, since policy=flight")}) {
    const TempFolder folder;
    const auto ended = test_support::run(with_agent(folder, SAMPLING_HOST, {"alone", "20"}, options));
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    const auto stats = std::filesystem::path(run_files::only(folder, "stats")).parent_path();
    EXPECT_NE(sampled::log_in(stats).find(words), std::string::npos) << options;
  }
}

// Without sample= there is none of it: no event of the kernel, and nothing beside a preloaded program.
TEST_F(Sampling, IsNotThereWhereNobodyAskedForIt) {
  const TempFolder folder;
  const auto ended =
      test_support::run(with_agent(folder, SAMPLING_HOST, {"alone", "1"}, "formats=samples,calls"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_FALSE(std::filesystem::exists(folder.file("out")));
}

// But for the last few that were not read yet.
TEST_F(Sampling, OfAKilledProcessIsRecovered) {
  const TempFolder folder;
  test_support::Child host(with_agent(folder, SAMPLING_HOST, {"killed", "10"}, kOptions));
  std::this_thread::sleep_for(std::chrono::milliseconds(times(400, 2'000)));
  host.signal(SIGKILL);
  (void)host.wait(10);
  const auto recovered = test_support::run({{JITQUILL_COMMAND, "recover", folder.file("out")}, {}, {}});
  EXPECT_TRUE(recovered.succeeded()) << recovered.describe();
  const File file = sampled::read(folder);
  EXPECT_GT(file.samples, 100u);
  expect_shares(file);
  expect_whole_stacks(file, "main");
}

}  // namespace
