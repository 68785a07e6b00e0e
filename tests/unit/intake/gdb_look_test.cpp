// A list of the GDB JIT interface that is looked at often: what a look costs, and what it sees.
#include <gtest/gtest.h>

#include <deque>

#include "agent/base/counters.hpp"
#include "agent/intake/gdb/registered.hpp"

namespace jitquill::gdb {
namespace {

constexpr std::size_t kMany = 10 * Registered::kEntriesPerLook;

std::uint64_t address_of(const void* object) {
  return reinterpret_cast<std::uint64_t>(object);
}

// Symbol files of no known kind: each is counted as refused when it is met first, and never again while it is
// known.
class GdbLook : public testing::Test {
 protected:
  JitEntry& added(std::uint64_t size = 1) {
    JitEntry& entry = entries_.emplace_back();
    put_in_front(entry, size);
    return entry;
  }
  // As JITs do.
  void put_in_front(JitEntry& entry, std::uint64_t size = 1) {
    entry = {descriptor_.first, 0, address_of(kFile), size};
    if (entry.next != 0) entry_at(entry.next).previous = address_of(&entry);
    descriptor_ = {1, kRegister, address_of(&entry), address_of(&entry)};
  }
  void take_back(JitEntry& entry) {
    if (entry.next != 0) entry_at(entry.next).previous = entry.previous;
    (entry.previous != 0 ? entry_at(entry.previous).next : descriptor_.first) = entry.next;
    descriptor_.action = kUnregister;
    descriptor_.relevant = address_of(&entry);
  }
  // How many symbol files it met that it did not know.
  std::uint64_t met_by_a_look() {
    const std::uint64_t before = counted(static_cast<std::size_t>(Counter::symfiles_refused));
    registered_.look(pair_);
    return counted(static_cast<std::size_t>(Counter::symfiles_refused)) - before;
  }
  // The same of so many looks that one of them is whole.
  std::uint64_t met_by_due_looks() {
    std::uint64_t met = 0;
    for (std::size_t i = 0; i <= entries_.size() / Registered::kEntriesPerLook; ++i) met += met_by_a_look();
    return met;
  }
  static std::uint64_t entries_read() { return counted(static_cast<std::size_t>(Counter::jit_entries_read)); }

  std::deque<JitEntry> entries_;
  Registered registered_;

 private:
  static constexpr std::uint8_t kFile[] = {'n', 'o', 'n', 'e', 0, 0, 0, 0};
  static JitEntry& entry_at(std::uint64_t address) { return *reinterpret_cast<JitEntry*>(address); }

  JitDescriptor descriptor_{1, kNothing, 0, 0};
  const Pair pair_{0, address_of(&descriptor_), true, false};
};

TEST_F(GdbLook, ReadsFewEntriesHoweverManyThereAre) {
  constexpr std::size_t kLooks = 1000;
  const std::uint64_t before = entries_read();
  for (std::size_t i = 0; i < kLooks; ++i) {
    added();
    ASSERT_EQ(met_by_a_look(), 1u);
  }
  for (std::size_t i = 0; i < kLooks; ++i) ASSERT_EQ(met_by_a_look(), 0u);
  // The new one, the first that is known, and its share of whole walks.
  EXPECT_LE(entries_read() - before, 2 * kLooks * (Registered::kEntriesPerLook + 2));
}

TEST_F(GdbLook, SeesAllThatCameSinceTheLast) {
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kMany; ++i) added();
    EXPECT_EQ(met_by_a_look(), kMany);
    EXPECT_EQ(met_by_a_look(), 0u);
  }
}

TEST_F(GdbLook, SeesTheLastThatWasTakenBackWhereverItWas) {
  for (std::size_t i = 0; i < kMany; ++i) added();
  EXPECT_EQ(met_by_a_look(), kMany);
  for (const std::size_t which : {kMany - 1, kMany / 2, std::size_t{0}}) {
    take_back(entries_[which]);
    EXPECT_EQ(met_by_a_look(), 0u);
    put_in_front(entries_[which]);
    EXPECT_EQ(met_by_a_look(), 1u) << which;
  }
}

// A second registration at the same place, which may have the same symbol file as the first.
TEST_F(GdbLook, SeesAnEntryThatServesAnother) {
  for (std::size_t i = 0; i < kMany; ++i) added();
  EXPECT_EQ(met_by_a_look(), kMany);
  for (const std::size_t which : {kMany - 1, kMany / 2, std::size_t{0}}) {
    take_back(entries_[which]);
    put_in_front(entries_[which], 2);
    EXPECT_EQ(met_by_a_look(), 1u) << which;
    JitEntry& front = entries_[which];
    take_back(front);
    added();
    put_in_front(front, 2);
    EXPECT_EQ(met_by_a_look(), 1u) << which;  // the one behind it, which is as it was
  }
}

TEST_F(GdbLook, SeesInTimeWhatTheFrontHides) {
  for (std::size_t i = 0; i < kMany; ++i) added();
  EXPECT_EQ(met_by_a_look(), kMany);
  JitEntry& first = entries_[kMany - 1];
  JitEntry& second = entries_[kMany - 2];
  take_back(first);
  take_back(second);
  put_in_front(second, 2);
  put_in_front(first);  // as if nothing had happened
  EXPECT_EQ(met_by_due_looks(), 1u);
  for (const std::size_t which : {3u, 5u, 7u}) take_back(entries_[which]);
  EXPECT_EQ(met_by_due_looks(), 0u);
  for (const std::size_t which : {3u, 5u, 7u}) put_in_front(entries_[which]);
  EXPECT_EQ(met_by_a_look(), 3u);
}

TEST_F(GdbLook, SeesAtOnceThatAllWereTakenBack) {
  for (std::size_t i = 0; i < kMany; ++i) added();
  EXPECT_EQ(met_by_a_look(), kMany);
  for (JitEntry& entry : entries_) take_back(entry);
  EXPECT_EQ(met_by_a_look(), 0u);
  for (JitEntry& entry : entries_) put_in_front(entry);
  EXPECT_EQ(met_by_a_look(), kMany);
}

TEST_F(GdbLook, SeesEachChangeOfAShortListAtOnce) {
  for (std::size_t i = 0; i < Registered::kEntriesPerLook; ++i) added();
  EXPECT_EQ(met_by_a_look(), Registered::kEntriesPerLook);
  for (const std::size_t which : {3u, 5u, 7u}) take_back(entries_[which]);
  EXPECT_EQ(met_by_a_look(), 0u);
  for (const std::size_t which : {3u, 5u, 7u}) put_in_front(entries_[which]);
  EXPECT_EQ(met_by_a_look(), 3u);
}

// Two objects whose lists were told to be the same one.
TEST_F(GdbLook, KeepsTheListsOfTwoInterfacesApart) {
  JitEntry& entry = added();
  const JitDescriptor other{1, kRegister, address_of(&entry), address_of(&entry)};
  const Pair pair{0, address_of(&other), true, false};
  EXPECT_EQ(met_by_a_look(), 1u);
  const std::uint64_t before = counted(static_cast<std::size_t>(Counter::symfiles_refused));
  registered_.look(pair);
  EXPECT_EQ(counted(static_cast<std::size_t>(Counter::symfiles_refused)), before + 1);
  registered_.went(pair, address_of(&entry));
  EXPECT_EQ(met_by_a_look(), 0u);
  registered_.came(pair, address_of(&entry));
  EXPECT_EQ(counted(static_cast<std::size_t>(Counter::symfiles_refused)), before + 2);
}

}  // namespace
}  // namespace jitquill::gdb
