// A killed native program's calls are all there, up to the last that returned.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "tests/host/native/subjects/killed.h"
#include "tests/host/native/subjects/output_folder.hpp"

namespace {

using test_support::Child;
using test_support::TempFolder;

class NativeKilled : public testing::TestWithParam<std::string> {};

std::vector<std::string> rows() {
  constexpr std::string_view kFront = "killed/";
  std::istringstream words(NATIVE_SUBJECTS);
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    if (word.starts_with(kFront)) all.push_back(word.substr(kFront.size()));
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, NativeKilled, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param; });

const killed_progress* map_progress(const std::string& path) {
  std::ofstream(path) << std::string(sizeof(killed_progress), '\0');
  const int file = open(path.c_str(), O_RDWR);
  void* const memory = mmap(nullptr, sizeof(killed_progress), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const killed_progress*>(memory);
}

std::uint64_t read(const std::uint64_t& word) {
  return __atomic_load_n(&word, __ATOMIC_SEQ_CST);
}

// Of a thread that got no lane in time: the machine was too busy.
std::uint64_t said_to_be_missing(const std::string& words) {
  const std::size_t behind = words.find(" records are missing");
  if (behind == words.npos) return 0;
  const std::size_t before = words.rfind(' ', behind - 1);
  return std::stoull(words.substr(before + 1, behind - before - 1));
}

TEST_P(NativeKilled, LosesNoCallThatReturned) {
  const std::string program = std::string(NATIVE_HOSTS) + "/subject_killed_" + GetParam();
  for (unsigned round = 0; round < times(2, 50); ++round) {
    const TempFolder folder;
    const killed_progress* const progress = map_progress(folder.file("progress"));
    ASSERT_NE(progress, nullptr);
    Child child(
        with_preload(folder, program, {folder.file("progress")}, "formats=calls,counts hooks=call_*"));
    const time_t deadline = time(nullptr) + 60;
    const std::uint64_t target = 1000 + 7919 * round;
    while ((read(progress->threads[0].done) < target || read(progress->threads[1].done) < target) &&
           time(nullptr) < deadline)
      sched_yield();
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(30).signal, SIGKILL);
    const std::string output = run_files::output_of(folder, child.pid());
    const auto recovered = test_support::run({{JITQUILL_COMMAND, "recover", output}, {}, folder.path()}, 120);
    ASSERT_TRUE(recovered.succeeded()) << recovered.describe();
    run_files::expect_no_memory(child.pid());
    const auto counts = run_files::counts_in(output);
    const auto calls = run_files::calls_in(output).calls_by_name();
    const std::uint64_t missing = said_to_be_missing(recovered.err);
    for (int i = 0; i < 2; ++i) {
      const std::string name = i == 0 ? "call_one" : "call_two";
      ASSERT_TRUE(counts.contains(name) && calls.contains(name));
      EXPECT_EQ(counts.at(name).calls, calls.at(name));
      EXPECT_GE(calls.at(name) + missing, read(progress->threads[i].done));
      EXPECT_LE(calls.at(name), read(progress->threads[i].begun));
    }
    munmap(const_cast<killed_progress*>(progress), sizeof *progress);
  }
}

}  // namespace
