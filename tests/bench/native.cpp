// What a traced call of a native function costs the thread that makes it, beside others' tracers and beside
// the least that two records cost: two reads of the counter and 16-byte stores in the function itself. All in
// one run, taking turns.
//
// policy=flight: no thread of ours reads meanwhile, so that what the writer costs does not count.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/paired.hpp"
#include "tests/support/child.hpp"

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr int kRounds = 9;
constexpr int kRuns = 41;
constexpr int kRunsOfOthers = 5;  // they write a file

struct Figures {
  double fib_least = 0, fib_median = 0, leaf_least = 0, leaf_median = 0;
};

struct Row {
  const char* name;
  const char* program;
  const char* base;
  std::vector<std::string> before;  // the words that run it
  Environment environment;
  double target = 0;  // of what is above the base, in floors; 0 = none
  int runs = kRuns;
  std::vector<Figures> rounds = {};
};

std::string program(const char* name) {
  return std::string(BENCH_PROGRAMS) + "/native_" + name;
}

bool is_there(const std::string& file) {
  return access(file.c_str(), X_OK) == 0;
}

Environment ours(const char* options) {
  return {{"LD_PRELOAD", JITQUILL_PRELOAD}, {"JITQUILL_OPTIONS", options}};
}

std::vector<Row> rows() {
  static const char* const kTraced = "formats=counts hooks=* policy=flight memory=4M";
  static const char* const kIdle = "formats=counts";
  const std::vector<std::string> uftrace = {"uftrace", "record",     "-d",
                                            "uftrace", "--no-event", "--no-libcall"};
  const Environment xray = {{"XRAY_OPTIONS", "xray_logfile_base=xray."},
                            {"BENCH_XRAY_FDR", "func_duration_threshold_us=0:buffer_max=6000"}};
  const Environment basic = {
      {"XRAY_OPTIONS", "patch_premain=true xray_mode=xray-basic xray_logfile_base=xray."},
      {"XRAY_BASIC_OPTIONS", "func_duration_threshold_us=0"}};
  return {
      {"nothing, gcc", "base", "base", {}, {}},
      {"the floor", "floor", "base", {}, {}, 1},
      {"-mfentry, traced (return mirror)", "fentry", "base", {}, ours(kTraced), 1.1},
      {"-pg, traced (return mirror)", "pg", "base", {}, ours(kTraced), 1.1},
      {"__return__, traced", "return", "base", {}, ours(kTraced), 1.05},
      {"-finstrument-functions, traced", "cyg", "base", {}, ours(kTraced), 1.05},
      {"-mfentry, traced, memory=64M (its first use: median)",
       "fentry",
       "base",
       {},
       ours("formats=counts hooks=* policy=flight")},
      {"-mfentry, libc's", "fentry", "base", {}, {}},
      {"-pg, libc's", "pg", "base", {}, {}},
      {"-finstrument-functions, libc's", "cyg", "base", {}, {}},
      {"-mfentry, our library, not traced", "fentry", "base", {}, ours(kIdle)},
      {"-pg, our library, not traced", "pg", "base", {}, ours(kIdle)},
      {"__return__, our library, not traced", "return", "base", {}, ours(kIdle)},
      {"-finstrument-functions, our library, not traced", "cyg", "base", {}, ours(kIdle)},
      {"-mfentry and __return__, bare returns in the program", "empty", "base", {}, {}},
      {"-mfentry, uftrace", "fentry", "base", uftrace, {}, 0, kRunsOfOthers},
      {"-pg, uftrace", "pg", "base", uftrace, {}, 0, kRunsOfOthers},
      {"-finstrument-functions, uftrace", "cyg", "base", uftrace, {}, 0, kRunsOfOthers},
      {"nothing, clang", "base_clang", "base_clang", {}, {}},
      {"XRay, not patched", "xray", "base_clang", {}, {}},
      {"XRay, basic", "xray", "base_clang", {}, basic, 0, kRunsOfOthers},
      {"XRay, flight data recorder", "xray", "base_clang", {}, xray, 0, kRunsOfOthers},
  };
}

// False: it did not run.
bool run(Row& row) {
  const test_support::TempFolder folder;
  test_support::Command command{row.before, row.environment, folder.path()};
  command.words.push_back(program(row.program));
  command.words.push_back(std::to_string(row.runs));
  const auto ended = test_support::run(command, 300);
  std::istringstream words(ended.out);
  Figures figures;
  words >> figures.fib_least >> figures.fib_median >> figures.leaf_least >> figures.leaf_median;
  if (!ended.succeeded() || words.fail()) return false;
  row.rounds.push_back(figures);
  return true;
}

using Each = double Figures::*;

double median(const Row& row, const Row& base, Each each) {
  std::vector<double> above;
  for (std::size_t i = 0; i < row.rounds.size(); ++i)
    above.push_back(row.rounds[i].*each - (&row == &base ? 0 : base.rounds[i].*each));
  return jitquill::bench::median_of(above);
}

// Median of the rounds' own ratios.
double floors(const Row& row, const Row& base, const Row& floor, Each each) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.rounds.size(); ++i)
    ratios.push_back((row.rounds[i].*each - base.rounds[i].*each) /
                     (floor.rounds[i].*each - base.rounds[i].*each));
  return jitquill::bench::median_of(ratios);
}

const Row& find(const std::vector<Row>& all, const std::string& name) {
  for (const Row& row : all)
    if (row.program == name && row.before.empty() && row.environment.empty()) return row;
  std::abort();
}

void print(const std::vector<Row>& all) {
  std::printf(
      "ns a call of fib and of a leaf above the program without calls: least of %d runs, in brackets their "
      "median,\n"
      "both the median of %d rounds. Floors: what is above, in those of the floor. policy=flight: the writer "
      "does\n"
      "not count.\n",
      kRuns, kRounds);
  const Row& floor = find(all, "floor");
  for (const Row& row : all) {
    const Row& base = find(all, row.base);
    std::printf("%-54s %7.2f (%6.2f) %7.2f (%6.2f)", row.name, median(row, base, &Figures::fib_least),
                median(row, base, &Figures::fib_median), median(row, base, &Figures::leaf_least),
                median(row, base, &Figures::leaf_median));
    if (row.target != 0)
      std::printf("  floors %.3f %.3f, target %.2f", floors(row, base, floor, &Figures::fib_least),
                  floors(row, base, floor, &Figures::leaf_least), row.target);
    std::printf("\n");
  }
}

bool can_run(Row& row) {
  const bool is_installed =
      row.before.empty() ||
      test_support::run({{"sh", "-c", "command -v " + row.before[0]}, {}, ""}).succeeded();
  if (!is_installed || !is_there(program(row.program))) {
    std::printf("skipped: %s: %s is not installed\n", row.name,
                is_installed ? "its compiler" : row.before[0].c_str());
    return false;
  }
  if (run(row)) {
    row.rounds.clear();
    return true;
  }
  std::printf("skipped: %s: does not run here\n", row.name);
  return false;
}

}  // namespace

int main() {
  std::vector<Row> all;
  for (Row& row : rows())
    if (can_run(row)) all.push_back(row);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Row& row = all[round % 2 == 0 ? i : all.size() - 1 - i];
      if (!run(row)) {
        std::printf("%s did not run\n", row.name);
        return 1;
      }
    }
  }
  print(all);
  return 0;
}
