// What the library costs a program that jits nothing: /bin/true, from posix_spawn() to its end, with
// LD_PRELOAD and without. Arguments: the libraries to preload, each measured; default: libjitquill.so of this
// build.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/bench/paired.hpp"

namespace {

constexpr int kPairs = 500;
constexpr double kTargetMs = 1.0;

void spawn_true(const char* preload) {
  const char* const words[] = {"/bin/true", nullptr};
  const char* const environment[] = {"PATH=/bin", preload, nullptr};
  pid_t child = 0;
  int status = 0;
  const int error = posix_spawn(&child, words[0], nullptr, nullptr, const_cast<char**>(words),
                                const_cast<char**>(environment));
  if (error != 0 || waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

void measure(const std::string& library) {
  const std::string preload = "LD_PRELOAD=" + library;
  const auto difference = jitquill::bench::paired_difference(
      kPairs, [&] { spawn_true(preload.c_str()); }, [] { spawn_true(nullptr); });
  std::printf("start: %.2f ms with %s, %.2f ms without, medians of %d\n", difference.ours_s * 1e3,
              library.c_str(), difference.floor_s * 1e3, kPairs);
  std::printf("%-60s %.2f ms (95%% bound %.2f, target %.2f)\n",
              "start: of /bin/true, with the library - without", difference.median_s * 1e3,
              difference.upper_95_s * 1e3, kTargetMs);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> libraries(argv + 1, argv + argc);
  if (libraries.empty()) libraries.emplace_back(JITQUILL_AGENT);
  for (const std::string& library : libraries) measure(library);
  return 0;
}
