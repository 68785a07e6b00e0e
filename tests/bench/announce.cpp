// What one announced function costs: jitquill_code_loaded() of 500 bytes, 10 lines and the tables of a usual
// frame, against a bare writev() of the very bytes that it puts into the dump.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "jitquill/jitquill.h"
#include "tests/bench/paired.hpp"

namespace {

namespace fs = std::filesystem;
constexpr int kFunctions = 2'000;  // a run
constexpr int kPairs = 61;
constexpr std::size_t kCodeSize = 500;
constexpr std::size_t kSpacing = 1024;                    // room behind each
constexpr std::size_t kArenaSize = std::size_t{1} << 30;  // addresses only

struct Announced {
  std::vector<unsigned char> memory = std::vector<unsigned char>(kFunctions * kSpacing, 0x90);
  std::vector<jitquill_line> lines;
  std::vector<jitquill_frame_event> frame{
      {1, JITQUILL_FRAME_PUSH, 3, 0, 0},       {3, JITQUILL_FRAME_PUSH, 12, 0, 0},
      {10, JITQUILL_FRAME_ALLOCATE, 0, 0, 40}, {495, JITQUILL_FRAME_FREE, 0, 0, 40},
      {497, JITQUILL_FRAME_POP, 12, 0, 0},     {498, JITQUILL_FRAME_POP, 3, 0, 0}};
  jitquill_code code{};
  std::uint64_t made = 0;
  unsigned char* arena = static_cast<unsigned char*>(
      mmap(nullptr, kArenaSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

  Announced() {
    if (arena == MAP_FAILED) std::exit(1);
    for (std::uint32_t i = 0; i < 10; ++i) lines.push_back({i * 50, 10 + i, 1, 0, nullptr});
    code.struct_size = sizeof code;
    code.size = kCodeSize;
    code.name = "module.function_of_usual_length";
    code.file = "/home/somebody/project/module.nib";
    code.lines = lines.data();
    code.line_count = lines.size();
    code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code.frame = frame.data();
    code.frame_count = frame.size();
    code.room = kSpacing - kCodeSize;
  }
  // New code at new addresses, as an arena fills; or at those of the run before, as a tier is replaced. The
  // bytes are read from one place, as with a second mapping, so that only the addresses differ.
  void announce_all(bool at_new_addresses) {
    for (std::size_t i = 0; i < kFunctions; ++i) {
      unsigned char* const at = memory.data() + i * kSpacing;
      ++made;
      std::memcpy(at, &made, sizeof made);  // no two functions have the same bytes: equal ones are salted
      code.bytes = at;
      code.addr = arena + (at_new_addresses ? made : i) * kSpacing;
      if (jitquill_code_loaded(&code, nullptr) != JITQUILL_OK) std::exit(1);
    }
  }
};

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main() {
  char name[] = "/tmp/bench-announce-XXXXXX";
  const std::string dir = mkdtemp(name);
  const std::string options = "dir=" + dir;
  const jitquill_start_options start{sizeof start, options.c_str()};
  if (jitquill_start(&start) != JITQUILL_OK) return 1;
  const std::string dump =
      std::string(jitquill_output_folder()) + "/jit-" + std::to_string(getpid()) + ".dump";

  Announced announced;
  announced.announce_all(true);
  const std::vector<char> written = contents(dump);
  const std::size_t group_size = (written.size() - 40) / kFunctions;
  const int floor_file = open((dir + "/floor").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
  (void)jitquill_stop();
  fs::remove_all(dir);
  return 0;
}
