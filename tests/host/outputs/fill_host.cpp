// Announces many functions, most of which end soon. Arguments: how many functions, how many of the first live
// on, how the others end: unloaded, or moved (over and over, into the place of one before). With "large"
// there is a function of 200,000 bytes in the middle, and the others end as unloaded.
// Prints how many dumps are mapped at the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

bool announce_large() {
  static std::vector<std::uint8_t> bytes(200'000, 0x90);
  jitquill_code code = {};
  code.struct_size = sizeof code;
  code.addr = bytes.data();
  code.size = bytes.size();
  code.name = "large";
  return jitquill_code_loaded(&code, nullptr) == JITQUILL_OK;
}

void print_mapped_dumps() {
  std::ifstream maps("/proc/self/maps");
  unsigned mapped = 0;
  for (std::string line; std::getline(maps, line);) mapped += line.find("/jit-") != line.npos ? 1 : 0;
  std::printf("%u\n", mapped);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto functions = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto lasting = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const std::string how = argv[3];
  const bool is_moved = how == "moved";
  CodeMemory memory(functions + 1);
  for (std::uint32_t i = 0; i < functions; ++i) {
    if (i == functions / 2 && how == "large" && !announce_large()) return 6;
    pattern::Announcement announcement(i, memory.at(i));
    if (is_moved) announcement.code().flags = JITQUILL_CODE_MAY_MOVE;
    if (announcement.announce() != JITQUILL_OK) return 3;
    if (i < lasting) continue;
    if (is_moved) {
      std::memcpy(memory.at(functions), memory.at(i), pattern::code_size(i));
      const std::size_t room = pattern::kSpacing - pattern::code_size(i);
      if (jitquill_code_moved(memory.at(i), memory.at(functions), room) != JITQUILL_OK) return 4;
    } else if (jitquill_code_unloaded(memory.at(i)) != JITQUILL_OK) {
      return 5;
    }
  }
  print_mapped_dumps();
  return 0;
}
