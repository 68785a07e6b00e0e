// What hooks do to a program, subject by subject: nothing, whether it is traced, could be, or there is no
// agent; and what it did is what comes out.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include "tests/host/native/subjects/output_folder.hpp"
#include "tests/host/run/call_tree.hpp"

namespace {

using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

std::vector<std::string> words_of(const char* text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

struct Subject {
  std::string name, row;

  std::string program() const { return std::string(NATIVE_HOSTS) + "/subject_" + name + "_" + row; }
  // What it may be asked to do.
  std::vector<std::string> ways() const {
    return name == "stopped" ? std::vector<std::string>{"return", "throw", "jump"}
                             : std::vector<std::string>{""};
  }
};

// Of "SUBJECT/ROW ...": but one that has a test of its own.
std::vector<Subject> subjects_of(const char* words) {
  std::vector<Subject> all;
  for (const std::string& word : words_of(words)) {
    const std::size_t slash = word.find('/');
    if (word.substr(0, slash) != "killed") all.push_back({word.substr(0, slash), word.substr(slash + 1)});
  }
  return all;
}

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name << " " << subject.row;
}

// What the program says of itself.
struct Told {
  std::map<std::string, std::uint64_t> counts;
  std::string tree;
  std::uint64_t may_lose = 0, may_end_unpaired = 0;

  explicit Told(const std::string& out) {
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind, name;
      words >> kind;
      if (kind == "count" && words >> name) words >> counts[name];
      if (kind == "tree") tree = line.substr(line.find(' ') + 1);
      if (kind == "may_lose") words >> may_lose;
      if (kind == "may_end_unpaired") words >> may_end_unpaired;
      if (kind == "skipped") std::cout << line << "\n";
    }
  }
};

void expect_whole(const std::string& output, const Told& told) {
  const auto values = run_files::stats_in(output);
  for (const char* loss : {"run_records_broken", "run_functions_nameless", "run_entries_unrecorded",
                           "native_calls_without_mirror", "native_calls_without_slot"})
    EXPECT_EQ(values.at(loss), 0u) << loss;
  EXPECT_LE(values.at("run_records_lost"), told.may_lose);
  // On a machine that is too busy; the ends of those entries have none then.
  const std::uint64_t too_late = values.at("run_records_without_lane");
  EXPECT_LE(values.at("run_ends_unpaired"), told.may_end_unpaired + told.may_lose + too_late);
}

void expect_told(const std::string& output, const Told& told) {
  const auto counts = run_files::counts_in(output);
  const auto file = run_files::calls_in(output);
  const auto calls = file.calls_by_name();
  const std::uint64_t too_late = run_files::stats_in(output).at("run_records_without_lane");
  for (const auto& [name, count] : told.counts) {
    if (count == 0) continue;
    ASSERT_TRUE(counts.contains(name) && calls.contains(name)) << name;
    EXPECT_LE(counts.at(name).calls, count) << name;
    EXPECT_GE(counts.at(name).calls + too_late, count) << name;
    EXPECT_EQ(calls.at(name), counts.at(name).calls) << name;
  }
  if (!told.tree.empty() && too_late == 0) {
    EXPECT_EQ(run_files::difference(run_files::tree(run_files::only_thread(file)), told.tree), "");
  }
}

void run_each_way(const Subject& subject, const std::string& size) {
  for (const std::string& way : subject.ways()) {
    SCOPED_TRACE(way);
    const TempFolder folder;
    const std::vector<std::string> arguments = {size, way};
    if (times(0, 1) != 0) {  // that the program itself is right
      const auto alone = test_support::run({{subject.program(), size, way}, {}, folder.path()}, 300);
      EXPECT_TRUE(alone.succeeded()) << "alone: " << alone.describe();
    }
    const auto untraced = run(with_preload(folder, subject.program(), arguments, "formats=calls"), 300);
    EXPECT_TRUE(untraced.succeeded()) << "untraced: " << untraced.describe();
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out")) << "nothing was asked for";
    Child child(with_preload(folder, subject.program(), arguments, "formats=calls,counts hooks=call_*"));
    const Ended traced = child.wait(300);
    ASSERT_TRUE(traced.succeeded()) << "traced: " << traced.describe();
    EXPECT_EQ(traced.err, "");
    run_files::expect_no_lanes(child.pid());
    const Told told(traced.out);
    const std::string output = run_files::output_of(folder, child.pid());
    if (output.empty()) return;
    expect_whole(output, told);
    expect_told(output, told);
  }
}

class NativeSubjects : public testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(Of, NativeSubjects, testing::ValuesIn(subjects_of(NATIVE_SUBJECTS)),
                         [](const auto& subject) { return subject.param.name + "_" + subject.param.row; });

TEST_P(NativeSubjects, AreAsWithoutUs) {
  run_each_way(GetParam(), std::to_string(times(1, 10)));
}

TEST(NativeMatrix, HoldsInEachRow) {
  if (times(0, 1) == 0) GTEST_SKIP() << "JITQUILL_LONG=1 runs it";
  const auto built = test_support::run(
      {{CMAKE_PROGRAM, "--build", BUILD_FOLDER, "--target", "native_matrix"}, {}, ""}, 3600);
  ASSERT_TRUE(built.succeeded()) << built.describe();
  for (const Subject& subject : subjects_of(NATIVE_MATRIX)) {
    SCOPED_TRACE(testing::PrintToString(subject));
    run_each_way(subject, "1");
  }
}

}  // namespace
