#include "tests/host/leave/both_ways.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <thread>

using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

namespace {

struct Run {
  Ended ended;
  std::vector<int> daemons;
};

// The next child of ours that ends, whoever started it; -1: none does.
int next_end() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) > 0) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return -1;
}

Run run_with_daemons(const Command& command, unsigned daemons) {
  prctl(PR_SET_CHILD_SUBREAPER, daemons != 0 ? 1 : 0);
  Run run{test_support::run(command), {}};
  for (; daemons > 0; --daemons) run.daemons.push_back(next_end());
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  return run;
}

std::map<std::string, std::uint64_t> read_statistics(const std::string& path) {
  std::map<std::string, std::uint64_t> rows;
  std::istringstream lines(test_support::read_text(path));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    rows[line.substr(0, tab)] = std::stoull(line.substr(tab + 1));
  }
  return rows;
}

LeftBehind read_folder(const std::filesystem::path& folder) {
  LeftBehind left;
  left.folder = folder.filename();
  const auto dumps = test_support::files_below(folder, "jit-", ".dump");
  EXPECT_EQ(dumps.size(), 1u) << folder;
  if (!dumps.empty()) left.dump = judged(dumps.front());
  left.statistics = read_statistics(folder / "stats");
  return left;
}

std::uint32_t first_number(const LeftBehind& left) {
  return left.dump.functions.empty() ? 0 : number_of(left.dump.functions.front());
}

}  // namespace

std::vector<std::uint32_t> LeftBehind::functions() const {
  std::vector<std::uint32_t> all;
  for (const jitdump_reader::Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    EXPECT_EQ(differences(function, i), "");
    all.push_back(i);
  }
  return all;
}

bool LeftBehind::has_counted_all() const {
  const auto loaded = statistics.find("functions_loaded");
  return loaded != statistics.end() && loaded->second == dump.functions.size();
}

std::vector<LeftBehind> left_behind(const TempFolder& folder) {
  std::vector<LeftBehind> all;
  if (!std::filesystem::exists(folder.file("out"))) return all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("out"))) {
    if (!entry.is_symlink()) all.push_back(read_folder(entry.path()));  // "latest" is one of the others
  }
  std::sort(all.begin(), all.end(),
            [](const auto& one, const auto& other) { return first_number(one) < first_number(other); });
  return all;
}

BothWays run_both_ways(const std::string& host, const std::vector<std::string>& arguments,
                       const std::string& options, unsigned daemons) {
  TempFolder plain_folder;
  TempFolder folder;
  Command plain;
  plain.words = {host};
  plain.words.insert(plain.words.end(), arguments.begin(), arguments.end());
  plain.folder = plain_folder.path();
  const Run without = run_with_daemons(plain, daemons);
  const Run with = run_with_daemons(with_preload(folder, host, arguments, options), daemons);
  EXPECT_EQ(with.ended.exit_code, without.ended.exit_code) << with.ended.describe();
  EXPECT_EQ(with.ended.signal, without.ended.signal) << with.ended.describe();
  EXPECT_EQ(with.ended.out, without.ended.out);
  EXPECT_EQ(with.ended.err, without.ended.err);
  EXPECT_FALSE(with.ended.timed_out || without.ended.timed_out);
  EXPECT_EQ(with.daemons, without.daemons);
  return {with.ended, with.daemons, left_behind(folder)};
}

std::vector<std::uint32_t> numbers(std::uint32_t from, std::uint32_t end) {
  std::vector<std::uint32_t> all(end - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}
