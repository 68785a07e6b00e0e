#include "tests/fuzz/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fuzz {
namespace {

bool map_once(std::uint64_t address, std::uint64_t size, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return mmap(at(address), size, protection, kFlags, -1, 0) == at(address);
}

bool map_all() {
  return map_once(kCode, kCodeSize, PROT_READ | PROT_WRITE | PROT_EXEC) &&
         map_once(kNowhere, kPage, PROT_NONE) && map_once(kData, kDataSize, PROT_READ | PROT_WRITE) &&
         map_once(kDataEnd, kPage, PROT_NONE);
}

}  // namespace

void clear_host_memory() {
  static const bool is_mapped = map_all();
  if (!is_mapped) {
    std::fprintf(stderr, "no memory at %#llx, where inputs point\n", static_cast<unsigned long long>(kCode));
    std::exit(2);
  }
  std::memset(at(kCode), 0, kCodeSize);
  std::memset(at(kData), 0, kDataSize);
}

void put_code(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (address < kCode || address >= kNowhere || bytes.empty()) return;
  std::memcpy(at(address), bytes.data(), std::min<std::uint64_t>(bytes.size(), kNowhere - address));
}

}  // namespace fuzz
