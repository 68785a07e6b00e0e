// Throws and catches around jitting, and through jitted frames where the agent says that it may. Built with
// libstdc++ and libgcc shared and static. Argument: rounds. Prints how many exceptions arrived: around, and
// through.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/host/unwinders/chain_code.hpp"

namespace {

using namespace jitquill::test;

constexpr std::size_t kSpacing = 64;

void throw_text(void**) {
  throw std::runtime_error("a text that no string keeps without memory of its own");
}

int caught(const std::vector<void*>& functions) {
  try {
    if (functions.empty()) throw_text(nullptr);
    run(functions, &throw_text);
  } catch (const std::exception& thrown) {
    return std::string(thrown.what()).starts_with("a text") ? 1 : 0;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::size_t rounds = std::strtoul(argv[1], nullptr, 10);
  CodeArena arena(rounds * kSpacing);
  int around = 0;
  int through = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    around += caught({});
    void* const entry = arena.write(i * kSpacing, 32);
    const jitquill_status status = announce(entry, 32);
    if (status == JITQUILL_OK) through += caught({entry});
    around += caught({});
    jitquill_code_unloaded(entry);
  }
  std::printf("around %d through %d\n", around, through);
  return 0;
}
