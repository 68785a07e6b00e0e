// What one process of a run left, read off its output folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jitquill::cli {

struct OutputFile {
  std::string path;
  std::string what;
  std::string command;  // that reads it
  std::uint64_t size = 0;
};

struct StatisticsRow {
  std::string name;
  std::uint64_t value = 0;
  std::string meaning;
};

enum class ProcessState {
  kEnded,    // it wrote its statistics
  kRunning,  // it outlived the run so far
  kKilled,   // it is gone without a word
};

struct ProcessOutput {
  std::vector<std::string> folders;  // more than one where max_bytes= filled some
  std::string name;                  // <command>-<pid>
  int pid = 0;
  ProcessState state = ProcessState::kEnded;
  std::uint64_t functions = 0;
  std::uint64_t calls = 0;    // of functions, in the outputs of run news
  std::uint64_t samples = 0;  // 0 where it was killed
  std::uint64_t events = 0;  // records of run news: entries, ends, what a runtime told; 0 where it was killed
  bool is_torn = false;      // a dump ends inside a record
  std::vector<StatisticsRow> statistics;
  std::vector<OutputFile> files;

  // Rows that say that something is missing or wrong, where they are not 0.
  std::vector<StatisticsRow> losses() const;
};

// In the order in which the folders were made. `since_s` (CLOCK_REALTIME): when the run began.
std::vector<ProcessOutput> read_outputs(const std::vector<std::string>& folders, std::int64_t since_s);

// name TAB number TAB meaning, a line each; what is not of that form is left out.
std::vector<StatisticsRow> read_statistics(const std::string& path);

}  // namespace jitquill::cli
