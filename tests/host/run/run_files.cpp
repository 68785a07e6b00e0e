#include "tests/host/run/run_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace run_files {

std::string only(const test_support::TempFolder& folder, const std::string& name) {
  std::string found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() != name || !entry.is_regular_file()) continue;
    EXPECT_EQ(found, "") << "another: " << entry.path();
    found = entry.path();
  }
  EXPECT_NE(found, "") << "no file " << name;
  return found;
}

namespace {

// The only one.
std::string folder_with(const test_support::TempFolder& folder, const std::string& name) {
  return std::filesystem::path(only(folder, name)).parent_path();
}

}  // namespace

calls_reader::File calls_in(const std::string& output) {
  calls_reader::File file = calls_reader::read_file(output + "/calls");
  EXPECT_EQ(describe(file.violations), "");
  return file;
}

calls_reader::File calls(const test_support::TempFolder& folder) {
  return calls_in(folder_with(folder, "calls"));
}

std::map<std::string, Count> counts_in(const std::string& output, bool adds_versions) {
  std::map<std::string, Count> rows;
  std::ifstream in(output + "/counts");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "calls\ttotal_ns\tself_ns\tmin_ns\tmax_ns\tfunction\tfile:line");
  while (std::getline(in, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream columns(line);
    Count count;
    std::string name;
    columns >> count.calls >> count.total_ns >> count.self_ns >> count.min_ns >> count.max_ns;
    columns.ignore(1);
    std::getline(columns, name, '\t');
    std::getline(columns, count.place);
    EXPECT_FALSE(columns.bad()) << line;
    const auto [row, is_first] = rows.emplace(name, count);
    EXPECT_TRUE(is_first || adds_versions) << "twice: " << name;
    if (!is_first) row->second.calls += count.calls;
  }
  return rows;
}

std::map<std::string, Count> counts(const test_support::TempFolder& folder, bool adds_versions) {
  return counts_in(folder_with(folder, "counts"), adds_versions);
}

std::map<std::string, std::uint64_t> stats_in(const std::string& output) {
  std::map<std::string, std::uint64_t> values;
  std::ifstream in(output + "/stats");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream columns(line);
    std::string name;
    std::uint64_t value = 0;
    columns >> name >> value;
    values[name] = value;
  }
  return values;
}

std::map<std::string, std::uint64_t> stats(const test_support::TempFolder& folder) {
  return stats_in(folder_with(folder, "stats"));
}

void expect_whole(const test_support::TempFolder& folder, pid_t pid) {
  const auto values = stats(folder);
  for (const char* loss :
       {"run_records_lost", "run_records_broken", "run_ends_unpaired", "run_functions_nameless"}) {
    ASSERT_TRUE(values.contains(loss)) << loss;
    EXPECT_EQ(values.at(loss), 0u) << loss;
  }
  expect_no_lanes(pid);
}

namespace {

std::string lanes_of(pid_t pid) {
  return "/dev/shm/jitquill-" + std::to_string(geteuid()) + "/" + std::to_string(pid);
}

const auto kStart = std::filesystem::file_time_type::clock::now();

}  // namespace

// Another process of that number may have been killed before, and nobody recovered it.
void expect_no_lanes(pid_t pid) {
  std::error_code is_gone;
  const auto changed = std::filesystem::last_write_time(lanes_of(pid), is_gone);
  EXPECT_TRUE(is_gone || changed < kStart) << lanes_of(pid);
}

// A recovery leaves it to a process that starts meanwhile and sweeps the folder: then it is gone a moment
// later.
void expect_no_memory(pid_t pid) {
  using namespace std::chrono_literals;
  for (const char* name : {"lanes", "code", "journal"}) {
    const std::string file = lanes_of(pid) + "/" + name;
    for (int i = 0; i < 200 && std::filesystem::exists(file); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_FALSE(std::filesystem::exists(file)) << file;
  }
  (void)std::filesystem::remove_all(lanes_of(pid));
}

}  // namespace run_files
