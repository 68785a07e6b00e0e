// Announces so much that growth shows, and says what it cost. Arguments: functions, rounds, which
// announcements:
//   plain     room for unwinding tables behind the code
//   packed    none: tables lie behind a twin
//   movable   the agent remembers them
//   small     neither lines nor frame
// The addresses are never used twice: only numbers, behind which there is no memory. With one round, the
// functions stay; with more, each ends them all. Prints a line for each round: anonymous memory gained since
// the start, in bytes, and calls of write() and its kin.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/host/jitdump/pattern.hpp"

namespace {

// Of those that come before the first measure: the agent opens its files for them.
constexpr std::uint32_t kWarmUp = 1'000;

struct Cost {
  std::uint64_t memory;  // bytes that are in no file
  std::uint64_t writes;
};

// A number in a file of /proc/self, by raw reads: nothing here may allocate.
std::uint64_t number_behind(const char* file, const char* key) {
  static std::array<char, 4096> text;
  const int in = open(file, O_RDONLY | O_CLOEXEC);
  const ssize_t size = in < 0 ? -1 : read(in, text.data(), text.size() - 1);
  if (size <= 0) std::abort();
  close(in);
  text[static_cast<std::size_t>(size)] = '\0';
  const char* found = std::strstr(text.data(), key);
  if (found == nullptr) std::abort();
  return std::strtoul(found + std::strlen(key), nullptr, 10);
}

Cost cost() {
  return {1024 * number_behind("/proc/self/smaps_rollup", "\nAnonymous:"),
          number_behind("/proc/self/io", "syscw:")};
}

class Announcer {
 public:
  Announcer(const std::string& kind, std::uint64_t functions) : kind_(kind) {
    const std::size_t size = functions * pattern::kSpacing;
    void* memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    start_ = static_cast<std::uint8_t*>(memory);
  }
  // The i-th function of all.
  void announce(std::uint32_t i) {
    pattern::Announcement announcement(i, bytes_.data());
    jitquill_code& code = announcement.code();
    code.bytes = bytes_.data();
    code.addr = at(i);
    if (kind_ == "packed") code.room = 0;
    if (kind_ == "movable") code.flags = JITQUILL_CODE_MAY_MOVE;
    if (kind_ == "small") code.line_count = code.unwinding = 0;
    if (announcement.announce() != JITQUILL_OK) std::abort();
  }
  void end(std::uint32_t i) const {
    if (jitquill_code_unloaded(at(i)) != JITQUILL_OK) std::abort();
  }

 private:
  std::uint8_t* at(std::uint32_t i) const { return start_ + std::size_t{i} * pattern::kSpacing; }

  std::string kind_;
  std::uint8_t* start_;
  std::array<std::uint8_t, pattern::kSpacing> bytes_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto functions = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto rounds = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  static std::array<char, 4096> printed;  // or the first line would allocate
  std::setvbuf(stdout, printed.data(), _IOFBF, printed.size());
  Announcer announcer(argv[3], kWarmUp + std::uint64_t{functions} * rounds);
  std::uint32_t next = 0;
  while (next < kWarmUp) announcer.announce(next++);
  (void)cost();
  const Cost start = cost();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t first = next;
    while (next < first + functions) announcer.announce(next++);
    for (std::uint32_t i = first; i < next && rounds > 1; ++i) announcer.end(i);
    const Cost now = cost();
    std::printf("%" PRIu64 " %" PRIu64 "\n", now.memory - start.memory, now.writes - start.writes);
  }
  return 0;
}
