// A child of a child, each traced with outputs of its own. Prints for each how many descriptors there are,
// while a drain is at work.
#include <jitquill/jitquill.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace {

constexpr int kGenerations = 3;

void call(int times) {
  const jitquill_function_info info = {sizeof info, 1, "f", "/src/program.lang"};
  std::uint64_t id = 0;
  if (jitquill_function(&info, &id) != JITQUILL_OK || id == 0) _exit(3);
  for (int i = 0; i < times; ++i) {
    if (jitquill_enter(id, 1) != JITQUILL_OK || jitquill_leave(id, 1) != JITQUILL_OK) _exit(4);
  }
}

}  // namespace

int main() {
  int status = 0;
  for (int generation = 0; generation < kGenerations; ++generation) {
    call(20'000);
    const std::filesystem::directory_iterator all("/proc/self/fd");
    std::printf("%td\n", std::distance(begin(all), end(all)));
    std::fflush(stdout);
    const pid_t child = generation + 1 == kGenerations ? 1 : fork();
    if (child == 0) continue;
    if (child > 1) waitpid(child, &status, 0);
    break;
  }
  return status == 0 ? 0 : 1;
}
