// Announces functions 0 to n - 1 and ends. Arguments: n, "packed" if no room behind the code may be used.
// Prints each status.
#include <cstdio>
#include <cstdlib>

#include "tests/host/jitdump/code_memory.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return 2;
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  CodeMemory memory(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    pattern::Announcement announcement(i, memory.at(i));
    if (argc == 3) announcement.code().room = 0;
    std::printf("%d\n", announcement.announce());
  }
  return 0;
}
