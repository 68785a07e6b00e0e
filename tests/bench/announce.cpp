// What one announced function costs: jitquill_code_loaded() of 500 bytes, 10 lines and the tables of a usual
// frame, against a bare writev() of the very bytes that it puts into its file. Argument: the format, jitdump
// unless said otherwise.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
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

struct Format {
  const char* name;
  const char* options;
  const char* stem;
  const char* ending;
  std::size_t header_size;
  double target;
};
constexpr Format kFormats[] = {{"jitdump", "formats=jitdump", "jit-", ".dump", 40, 1.6},
                               {"perfmap", "formats=perfmap perfmap_at=dir", "perf-", ".map", 0, 2.4}};

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : kFormats[0].name;
  const auto* const format = std::ranges::find(kFormats, wanted, &Format::name);
  if (format == std::end(kFormats)) return 2;
  const jitquill::bench::OutputFolder folder(format->options);
  const std::string file =
      std::string(jitquill_output_folder()) + "/" + format->stem + std::to_string(getpid()) + format->ending;

  jitquill::bench::Announced announced(kFunctions);
  announced.announce_all(true);
  const std::vector<char> written = contents(file);
  const std::size_t group_size = (written.size() - format->header_size) / kFunctions;
  const int floor_file = open((folder.path() + "/floor").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto bare_writes = [&] {
    for (int i = 0; i < kFunctions; ++i) {
      const iovec group{
          const_cast<char*>(written.data()) + format->header_size + static_cast<std::size_t>(i) * group_size,
          group_size};
      if (writev(floor_file, &group, 1) != static_cast<ssize_t>(group_size)) std::exit(1);
    }
  };
  std::printf("announce: %s, %zu bytes a function, medians of %d runs of %d\n", format->name, group_size,
              kPairs, kFunctions);
  const auto report = [&](const char* what, bool at_new_addresses) {
    const auto ratio = jitquill::bench::paired(
        kPairs, [&] { announced.announce_all(at_new_addresses); }, bare_writes);
    std::printf("announce: %.2f us, %.2f us bare writev\n", ratio.ours_s / kFunctions * 1e6,
                ratio.floor_s / kFunctions * 1e6);
    jitquill::bench::print(what, ratio, format->target);
  };
  report("announce: a new function / a bare writev of its bytes", true);
  report("announce: one at a used address / the same", false);
  return 0;
}
