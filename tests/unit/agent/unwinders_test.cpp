// The parts of agent/unwinders that need no exception: the map of units, the lock, the search for names.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <random>
#include <vector>

#include "agent/base/counters.hpp"
#include "agent/base/elf_object.hpp"
#include "agent/unwinders/registry.hpp"
#include "agent/unwinders/slots.hpp"

namespace jitquill::unwinders {
namespace {

TEST(UnitMap, AgreesWithAnArrayOfBools) {
  UnitMap map;
  std::vector<bool> model(kUnits, false);
  std::mt19937 random(11);
  const auto slow_next = [&](std::uint32_t from, std::uint32_t end, bool on) {
    while (from < end && model[from] != on) ++from;
    return from;
  };
  for (int round = 0; round < 3000; ++round) {
    const auto from = static_cast<std::uint32_t>(random() % kUnits);
    const std::uint32_t count = std::min(static_cast<std::uint32_t>(random() % 200), kUnits - from);
    const bool on = random() % 2 == 0;
    map.set(from, count, on);
    for (std::uint32_t i = 0; i < count; ++i) model[from + i] = on;
    const auto at = static_cast<std::uint32_t>(random() % kUnits);
    const auto end = at + static_cast<std::uint32_t>(random() % (kUnits - at + 1));
    ASSERT_EQ(map.next(at, end, on), slow_next(at, end, on));
    std::uint32_t begin = at;
    while (begin > 0 && !model[begin - 1]) --begin;
    ASSERT_EQ(map.run_before(at), begin);
    const auto wanted = static_cast<std::uint32_t>(random() % 100 + 1);
    const std::uint32_t found = map.find_clear(wanted);
    std::uint32_t run = 0, first = kUnits;
    for (std::uint32_t i = 0; i < kUnits && first == kUnits; ++i) {
      run = model[i] ? 0 : run + 1;
      if (run == wanted) first = i + 1 - wanted;
    }
    ASSERT_EQ(found, first);
  }
}

// A fault handler, or a hook of malloc, that announces code while its thread registers some.
TEST(Registry, RefusesTheThreadThatIsInside) {
  const auto refused = [] { return counted(static_cast<std::size_t>(Counter::registrations_refused)); };
  ASSERT_EQ(Registry::lock(), OwnerLock::Entry::kTaken);
  const std::uint64_t before = refused();
  EXPECT_FALSE(registry().load(Unwinding::from_events({}), 0x1000, 16));
  EXPECT_EQ(refused(), before + 1);
  EXPECT_FALSE(registry().has_any());
  Registry::unlock();
}

TEST(Registry, RefusesWhatSaysNothingOfItsFrame) {
  EXPECT_FALSE(registry().load({}, 0x1000, 16));
  EXPECT_FALSE(registry().has_any());
}

struct Search {
  const char* name;
  std::uintptr_t found = 0;
};

std::uintptr_t find_in_process(const char* name) {
  Search search{name};
  const auto look = [](dl_phdr_info* info, std::size_t, void* to) {
    auto& wanted = *static_cast<Search*>(to);
    if (wanted.found == 0) wanted.found = ElfObject(*info).find(wanted.name);
    return 0;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

TEST(ElfObject, FindsWhatTheLoaderFinds) {
  for (const char* name :
       {"__register_frame", "__deregister_frame_info", "_Unwind_RaiseException", "atexit"}) {
    EXPECT_EQ(find_in_process(name), reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name))) << name;
  }
  EXPECT_EQ(find_in_process("no_such_name_at_all"), 0u);
  EXPECT_EQ(find_in_process(""), 0u);
}

}  // namespace
}  // namespace jitquill::unwinders
