// What one announced function costs: jitquill_code_loaded() of 500 bytes, 10 lines and the tables of a usual
// frame, against a bare writev() of the very bytes that it puts into the dump.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/bench/announced.hpp"
#include "tests/bench/paired.hpp"

namespace {

constexpr int kFunctions = 2'000;  // a run
constexpr int kPairs = 61;

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main() {
  const jitquill::bench::OutputFolder folder;
  const std::string dump =
      std::string(jitquill_output_folder()) + "/jit-" + std::to_string(getpid()) + ".dump";

  jitquill::bench::Announced announced(kFunctions);
  announced.announce_all(true);
  const std::vector<char> written = contents(dump);
  const std::size_t group_size = (written.size() - 40) / kFunctions;
  const int floor_file = open((folder.path() + "/floor").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto bare_writes = [&] {
    for (int i = 0; i < kFunctions; ++i) {
      const iovec group{const_cast<char*>(written.data()) + 40 + static_cast<std::size_t>(i) * group_size,
                        group_size};
      if (writev(floor_file, &group, 1) != static_cast<ssize_t>(group_size)) std::exit(1);
    }
  };
  std::printf("announce: %zu bytes a function, medians of %d runs of %d\n", group_size, kPairs, kFunctions);
  const auto report = [&](const char* what, bool at_new_addresses, double target) {
    const auto ratio = jitquill::bench::paired(
        kPairs, [&] { announced.announce_all(at_new_addresses); }, bare_writes);
    std::printf("announce: %.2f us, %.2f us bare writev\n", ratio.ours_s / kFunctions * 1e6,
                ratio.floor_s / kFunctions * 1e6);
    jitquill::bench::print(what, ratio, target);
  };
  report("announce: a new function / a bare writev of its bytes", true, 1.6);
  report("announce: one at a used address / the same", false, 1.6);
  return 0;
}
