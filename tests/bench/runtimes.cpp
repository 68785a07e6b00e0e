// What the preload costs real runtimes: programs of two seconds, with it and without, in interleaved pairs;
// node also against its own --perf-prof. Wall time, and CPU time (user and system), which says more where
// others are busy too.
//   bench-runtimes [PAIRS [NAME...]]     40 pairs unless said otherwise; names: node java erlang perf-prof
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/paired.hpp"

namespace {

namespace fs = std::filesystem;
using jitquill::bench::Pairs;
using Words = std::vector<std::string>;

constexpr double kSeconds = 2;

struct Runtime {
  const char* name;
  const char* build;  // in a folder of our own, beside the programs; it fails where the runtime is not there
  Words ours;         // the number of rounds follows
  Words floor;
  double target;
  bool floor_is_bare;  // without the preload, not something else to compare with
};

const Runtime kRuntimes[] = {
    {"node", "node --version", {"node", "nested.js"}, {"node", "nested.js"}, 1.02, true},
    {"java", "javac Nested.java", {"java", "Nested"}, {"java", "Nested"}, 1.02, true},
    {"erlang",
     "erlc nested.erl",
     {"erl", "-noshell", "-run", "nested", "main"},
     {"erl", "-noshell", "-run", "nested", "main"},
     1.02,
     true},
    {"perf-prof", "node --version", {"node", "nested.js"}, {"node", "--perf-prof", "nested.js"}, 1.00, false},
};

struct Cost {
  double wall_s;
  double cpu_s;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::vector<char*> pointers(std::span<std::string> words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// The program prints its result and ends with 3.
Cost run(Words words, long rounds, bool is_preloaded) {
  words.push_back(std::to_string(rounds));
  Words environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  if (is_preloaded) environment.emplace_back("LD_PRELOAD=" JITQUILL_PRELOAD);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 0;
  rusage usage{};
  Cost cost{};
  cost.wall_s = jitquill::bench::seconds_of([&] {
    const int error = posix_spawnp(&child, words[0].c_str(), &files, nullptr, pointers(words).data(),
                                   pointers(environment).data());
    if (error != 0 || wait4(child, &status, 0, &usage) != child) std::exit(1);
  });
  posix_spawn_file_actions_destroy(&files);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
    std::fprintf(stderr, "%s: wait status %d\n", words[0].c_str(), status);
    std::exit(1);
  }
  cost.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return cost;
}

// Dumps, ours and node's own.
void forget_outputs() {
  fs::remove_all("jitquill.data");
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".dump") fs::remove(entry.path());
  }
}

// How many rounds take kSeconds here, if nothing else runs.
long rounds_of(const Runtime& runtime) {
  long rounds = 100;
  double taken_s = 0;
  while ((taken_s = run(runtime.floor, rounds, false).cpu_s) < kSeconds / 2) rounds *= 2;
  return static_cast<long>(static_cast<double>(rounds) * kSeconds / taken_s);
}

void measure(const Runtime& runtime, int pairs) {
  if (std::system((std::string(runtime.build) + " >/dev/null 2>&1").c_str()) != 0) {
    std::printf("%s: not installed\n", runtime.name);
    return;
  }
  const long rounds = rounds_of(runtime);
  const auto side = [&](const Words& words, bool is_preloaded) {
    return [&, is_preloaded] {
      const Cost cost = run(words, rounds, is_preloaded);
      forget_outputs();
      return cost;
    };
  };
  const auto all = jitquill::bench::interleaved(pairs, side(runtime.ours, true), side(runtime.floor, false));
  Pairs wall;
  Pairs cpu;
  for (const auto& [ours, floor] : all) {
    wall.ours_s.push_back(ours.wall_s);
    wall.floor_s.push_back(floor.wall_s);
    cpu.ours_s.push_back(ours.cpu_s);
    cpu.floor_s.push_back(floor.cpu_s);
  }
  const std::string against =
      std::string("runtimes: ") + runtime.name +
      (runtime.floor_is_bare ? ", preload / without, " : ", preload / node's own dump, ");
  print((against + "wall time").c_str(), ratio_of(wall), runtime.target);
  print((against + "CPU time").c_str(), ratio_of(cpu), runtime.target);
  std::printf("%12d pairs of %.2f s, %.2f s CPU time\n", pairs, ratio_of(wall).floor_s,
              ratio_of(cpu).floor_s);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 40;
  const Words wanted(argv + std::min(argc, 2), argv + argc);
  if (pairs < 1) return 2;
  std::string folder = "/tmp/bench-runtimes-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr || chdir(folder.c_str()) != 0) return 1;
  fs::copy(JITQUILL_PROGRAMS, ".");
  for (const Runtime& runtime : kRuntimes) {
    if (wanted.empty() || std::ranges::find(wanted, runtime.name) != wanted.end()) measure(runtime, pairs);
  }
  fs::remove_all(folder);
  return 0;
}
