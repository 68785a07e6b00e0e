// Opens modules with static thread-local storage until the loader has no more, then announces a function.
// Argument: such a module; copies of it are opened, which it makes where it runs. Prints how many it could
// open.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/host/jitdump/code_memory.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr int kMost = 1'000;
  int opened = 0;
  while (opened < kMost) {
    const std::string copy = "module" + std::to_string(opened) + ".so";
    std::filesystem::copy_file(argv[1], copy);
    if (dlopen(std::filesystem::absolute(copy).c_str(), RTLD_NOW) == nullptr) break;
    ++opened;
  }
  const CodeMemory memory(1);
  const jitquill_status status = pattern::Announcement(0, memory.at(0)).announce();
  std::printf("%d\n", opened);
  return opened < kMost && (status == JITQUILL_OK || status == JITQUILL_NO_AGENT) ? 0 : 1;
}
