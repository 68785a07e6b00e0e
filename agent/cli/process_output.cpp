#include "agent/cli/process_output.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "agent/base/counters.hpp"
#include "agent/cli/file_bytes.hpp"
#include "agent/cli/words.hpp"
#include "writer/jitdump/check/record_walk.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

struct FileKind {
  std::string_view start;
  std::string_view end;
  const char* what;
  std::string_view command;
};

constexpr FileKind kKinds[] = {
#define OUTPUT_FILE(start, end, what, command) {start, end, what, command},
#include "agent/cli/files.def"
#undef OUTPUT_FILE
};

OutputFile described(const fs::path& path, std::uint64_t size) {
  const std::string name = path.filename().native();
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const FileKind& row) {
    const std::string& from = row.start.starts_with('/') ? path.native() : name;
    return from.starts_with(row.start) && name.ends_with(row.end);
  });
  std::string command(kind->command);
  if (const std::size_t at = command.find("%f"); at != command.npos)
    command.replace(at, 2, shell_word(path.native()));
  return {path.native(), kind->what, command, size};
}

// What perf inject puts beside a dump is perf's.
bool is_ours(const fs::path& path) {
  return path.extension() != ".so";
}

void add_files(ProcessOutput& process, const std::string& folder) {
  std::error_code error;
  std::vector<OutputFile> files;
  // Links are not followed: one leads to the lanes.
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored) && is_ours(at->path()))
      files.push_back(described(at->path(), at->file_size(ignored)));
  }
  std::ranges::sort(files, {}, &OutputFile::path);
  process.files.insert(process.files.end(), files.begin(), files.end());
}

// Where formats=perfmap writes by default; an older process of this number may have left one.
void add_perf_map(ProcessOutput& process, std::int64_t since_s) {
  const std::string path = "/tmp/perf-" + std::to_string(process.pid) + ".map";
  struct stat status {};
  const bool is_there = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_there && status.st_uid == ::geteuid() && status.st_mtim.tv_sec >= since_s)
    process.files.push_back(described(path, static_cast<std::uint64_t>(status.st_size)));
}

bool is_alive(int pid) {
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

std::uint64_t lines_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return static_cast<std::uint64_t>(
      std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
}

// Distinct functions: those with a twin have two loads of one number, moved and re-announced ones have more.
std::uint64_t functions_in_dump(const std::string& path, bool& is_torn) {
  const FileBytes file(path);
  jitdump::RecordWalk walk(file.view());
  std::uint64_t loads = 0;
  std::uint64_t last_index = 0;
  while (const auto record = walk.next()) {
    if (record->id != static_cast<std::uint32_t>(jitdump::RecordId::kCodeLoad)) continue;
    const std::uint64_t index = jitdump::load_view(*record).index;
    loads += index != last_index ? 1 : 0;
    last_index = index;
  }
  is_torn = is_torn || walk.end() == jitdump::RecordWalk::End::kTorn;
  return loads;
}

// Off the files, for a process that left no statistics.
std::uint64_t functions_in_files(ProcessOutput& process) {
  std::uint64_t in_dumps = 0;
  std::uint64_t in_maps = 0;
  for (const OutputFile& file : process.files) {
    if (file.path.ends_with(".dump")) in_dumps += functions_in_dump(file.path, process.is_torn);
    if (file.path.ends_with(".map")) in_maps = std::max(in_maps, lines_in(file.path));
  }
  return std::max(in_dumps, in_maps);
}

// Off `counts`, where each function has a row that begins with the number; 0 where there is none.
std::uint64_t calls_in_files(const ProcessOutput& process) {
  std::uint64_t calls = 0;
  for (const OutputFile& file : process.files) {
    if (fs::path(file.path).filename() != "counts") continue;
    std::ifstream in(file.path, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      std::uint64_t number = 0;
      if (std::from_chars(line.data(), line.data() + line.size(), number).ec == std::errc{}) calls += number;
    }
  }
  return calls;
}

std::uint64_t value_of(const std::vector<StatisticsRow>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &StatisticsRow::name);
  return row != rows.end() ? row->value : 0;
}

// <command>-<pid>[.N]
int pid_of(std::string_view name) {
  const std::string_view digits = name.substr(name.rfind('-') + 1);
  int pid = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return pid;
}

// A folder that filled has the process go on in the next; a program executed by it begins counting anew.
bool goes_on(const ProcessOutput& before, const ProcessOutput& next) {
  if (before.name != next.name) return false;
  const std::uint64_t filled = value_of(before.statistics, "folders_filled");
  if (filled == 0) return false;
  return next.state != ProcessState::kEnded || value_of(next.statistics, "folders_filled") >= filled;
}

ProcessOutput read_output(const std::string& folder) {
  ProcessOutput process;
  process.folders = {folder};
  process.name = fs::path(folder).filename().native();
  if (const std::size_t number = process.name.find('.', process.name.rfind('-')); number != std::string::npos)
    process.name.resize(number);
  process.pid = pid_of(process.name);
  add_files(process, folder);
  process.statistics = read_statistics(folder + "/stats");
  if (process.statistics.empty())
    process.state = is_alive(process.pid) ? ProcessState::kRunning : ProcessState::kKilled;
  return process;
}

void add_folder(ProcessOutput& process, ProcessOutput next) {
  process.folders.push_back(next.folders.front());
  process.files.insert(process.files.end(), next.files.begin(), next.files.end());
  process.state = next.state;
  if (!next.statistics.empty()) process.statistics = std::move(next.statistics);
}

}  // namespace

std::vector<StatisticsRow> read_statistics(const std::string& path) {
  std::vector<StatisticsRow> rows;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    StatisticsRow row;
    std::string number;
    if (!std::getline(fields, row.name, '\t') || !std::getline(fields, number, '\t')) continue;
    std::getline(fields, row.meaning);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), row.value);
    if (read.ec == std::errc{} && read.ptr == number.data() + number.size()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<StatisticsRow> ProcessOutput::losses() const {
  std::vector<StatisticsRow> found;
  for (const StatisticsRow& row : statistics) {
    const bool is_loss = std::ranges::any_of(
        kCounterRows, [&](const CounterRow& known) { return known.is_loss && row.name == known.name; });
    if (is_loss && row.value != 0) found.push_back(row);
  }
  return found;
}

std::vector<ProcessOutput> read_outputs(const std::vector<std::string>& folders, std::int64_t since_s) {
  std::vector<ProcessOutput> processes;
  for (const std::string& folder : folders) {
    ProcessOutput next = read_output(folder);
    const auto before = std::find_if(processes.rbegin(), processes.rend(),
                                     [&](const ProcessOutput& one) { return goes_on(one, next); });
    if (before != processes.rend()) {
      add_folder(*before, std::move(next));
    } else {
      processes.push_back(std::move(next));
    }
  }
  for (ProcessOutput& process : processes) {
    add_perf_map(process, since_s);
    const std::uint64_t said = value_of(process.statistics, "functions_loaded") +
                               value_of(process.statistics, "functions_without_code");
    const bool is_said = process.state == ProcessState::kEnded;
    process.calls = is_said ? value_of(process.statistics, "run_calls") : calls_in_files(process);
    process.events = value_of(process.statistics, "run_records");
    process.samples = value_of(process.statistics, "samples");
    process.functions = is_said ? said : std::max(said, functions_in_files(process));
  }
  return processes;
}

}  // namespace jitquill::cli
