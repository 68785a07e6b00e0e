#include "tests/host/sampling/sampled.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sampled {
namespace {

double percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

void read_sum(const std::string& line, File& file) {
  std::istringstream words(line);
  std::string mark, what;
  std::uint64_t value = 0;
  words >> mark >> value;
  std::getline(words, what);
  if (what == " samples") file.samples = value;
  if (what == " of them with frames missing") file.partial = value;
  if (what == " samples lost") file.lost = value;
}

void read_row(const std::string& line, File& file) {
  std::istringstream columns(line);
  Row row;
  std::string name;
  columns >> row.self >> row.total >> row.kernel;
  columns.ignore(1);
  std::getline(columns, name, '\t');
  EXPECT_FALSE(columns.bad()) << line;
  EXPECT_LE(row.self, row.total) << line;
  EXPECT_LE(row.kernel, row.self) << line;
  Row& all = file.rows[name];
  all.self += row.self;
  all.total += row.total;
  all.kernel += row.kernel;
}

}  // namespace

bool can_sample() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.exclude_kernel = 1;
  const long event = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (event >= 0) ::close(static_cast<int>(event));
  return event >= 0;
}

double File::share(const std::string& function) const {
  const auto row = rows.find(function);
  return row == rows.end() ? 0 : percent(row->second.self, samples);
}

double File::reaching(const std::string& function) const {
  const auto row = rows.find(function);
  return row == rows.end() ? 0 : percent(row->second.total, samples);
}

File read_file(const std::string& path) {
  File file;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "self\ttotal\tkernel\tfunction\tfile:line") << path;
  while (std::getline(in, line)) line.starts_with('#') ? read_sum(line, file) : read_row(line, file);
  std::uint64_t self = 0;
  for (const auto& [name, row] : file.rows) self += row.self;
  EXPECT_EQ(self, file.samples);
  return file;
}

File read_in(const std::string& output) {
  const File file = read_file(output + "/samples");
  const auto stats = run_files::stats_in(output);
  if (!stats.empty()) {
    EXPECT_EQ(stats.at("samples"), file.samples);
    EXPECT_EQ(stats.at("samples_partial"), file.partial);
    EXPECT_EQ(stats.at("samples_lost"), file.lost);
  }
  return file;
}

File read(const test_support::TempFolder& folder) {
  return read_in(std::filesystem::path(run_files::only(folder, "samples")).parent_path());
}

std::string log_in(const std::string& output) {
  std::ifstream in(output + "/log");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace sampled
