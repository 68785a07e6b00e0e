// Lists of the GDB JIT interface that are broken.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <string>
#include <vector>

#include "agent/base/counters.hpp"
#include "agent/intake/gdb/jit_interface.hpp"
#include "agent/intake/gdb/registered.hpp"

namespace jitquill::gdb {
namespace {

std::uint64_t address_of(const void* object) {
  return reinterpret_cast<std::uint64_t>(object);
}

std::vector<std::uint64_t> entries_of(const JitEntry& first) {
  std::vector<std::uint64_t> seen;
  for_each_entry(address_of(&first), [&](std::uint64_t entry, const JitEntry&) {
    seen.push_back(entry);
    return true;
  });
  return seen;
}

TEST(GdbList, IsSeenInItsOrder) {
  std::vector<JitEntry> entries(100);
  std::vector<std::uint64_t> all;
  for (JitEntry& entry : entries) {
    if (&entry != &entries.back()) entry.next = address_of(&entry + 1);
    all.push_back(address_of(&entry));
  }
  EXPECT_EQ(entries_of(entries[0]), all);
}

TEST(GdbList, ThatGoesInACircleIsLeft) {
  std::vector<JitEntry> entries(100);
  for (JitEntry& entry : entries) entry.next = address_of(&entry + 1);
  for (const std::size_t back : {0u, 1u, 50u, 99u}) {
    entries.back().next = address_of(&entries[back]);
    const auto seen = entries_of(entries[0]);
    EXPECT_GE(seen.size(), entries.size()) << back;
    EXPECT_LE(seen.size(), 3 * entries.size()) << back;
  }
}

TEST(GdbList, EndsWhereItCannotBeRead) {
  JitEntry last{1, 0, 0, 0};
  const JitEntry first{address_of(&last), 0, 0, 0};
  EXPECT_EQ(entries_of(first), (std::vector<std::uint64_t>{address_of(&first), address_of(&last)}));
}

// VmHWM: the most memory that the process ever had.
std::uint64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::uint64_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

TEST(GdbList, ASymbolFileThatDoesNotEndInMemoryTakesNone) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  void* const room =
      mmap(nullptr, kGiB + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  ASSERT_EQ(mprotect(room, kPage, PROT_READ), 0);
  const JitEntry entry{0, 0, address_of(room), kGiB};
  const JitEntry of_nothing{0, 0, 0, kGiB};
  const JitDescriptor descriptor{1, kRegister, address_of(&entry), address_of(&entry)};
  const Pair pair{0, address_of(&descriptor), true, true};
  const auto refused = static_cast<std::size_t>(Counter::symfiles_refused);
  const std::uint64_t before = counted(refused);
  const std::uint64_t peak_before = peak_kib();
  ASSERT_NE(peak_before, 0u);
  Registered registered;
  registered.came(pair, address_of(&entry));
  registered.came(pair, address_of(&of_nothing));
  EXPECT_EQ(counted(refused), before + 2);
  EXPECT_LT(peak_kib(), peak_before + kGiB / 1024 / 4);
  registered.went(pair, address_of(&entry));
  registered.went(pair, address_of(&of_nothing));
  munmap(room, kGiB + kPage);
}

}  // namespace
}  // namespace jitquill::gdb
