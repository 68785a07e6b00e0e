// What is registered with __register_frame, copied without knowing its size.
#include "agent/intake/frames/section_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "writer/bytes/bytes.hpp"
#include "writer/unwind/eh_frame.hpp"
#include "writer/unwind/eh_frame_read.hpp"

namespace {

using jitquill::Bytes;
using jitquill::Unwinding;
using jitquill::frames::copy_section;
using jitquill::unwind::EhFrameSection;
using jitquill::unwind::FdeWalk;
using jitquill::unwind::find_fde;

// One page, with nothing behind it that could be read.
class PageBeforeNothing {
 public:
  static constexpr std::size_t kSize = 4096;

  PageBeforeNothing() {
    page_ = static_cast<std::uint8_t*>(
        mmap(nullptr, 2 * kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(page_ + kSize, kSize);
  }
  ~PageBeforeNothing() { munmap(page_, kSize); }
  PageBeforeNothing(const PageBeforeNothing&) = delete;
  PageBeforeNothing& operator=(const PageBeforeNothing&) = delete;

  std::uint8_t* end() { return page_ + kSize; }

 private:
  std::uint8_t* page_;
};

// A CIE and `count` FDEs of code at 0x1000, 0x2000, ..., without the word of zeroes.
std::vector<std::uint8_t> entries(int count) {
  Bytes bytes;
  EhFrameSection section(bytes, jitquill::unwind::PointerForm::kAbsolute8);
  for (int i = 1; i <= count; ++i)
    EXPECT_EQ(section.add(Unwinding::from_events({}), 0x1000 * i, 0x80), jitquill::Status::kOk);
  return {bytes.view().begin(), bytes.view().end()};
}

int fdes_in(const jitquill::frames::SectionCopy& copy) {
  FdeWalk walk(copy.bytes.view(), copy.address);
  int count = 0;
  while (const auto fde = walk.next()) EXPECT_EQ(fde->pc_begin, 0x1000u * static_cast<unsigned>(++count));
  return count;
}

std::uint64_t address_of(const void* at) {
  return reinterpret_cast<std::uint64_t>(at);
}

TEST(SectionCopy, EndsAtTheWordOfZeroes) {
  auto section = entries(3);
  const std::size_t size = section.size();
  section.insert(section.end(), 4, 0);
  section.insert(section.end(), 100, 0xFF);
  const auto copy = copy_section(address_of(section.data()));
  EXPECT_EQ(copy.bytes.view().size(), size);
  EXPECT_EQ(fdes_in(copy), 3);
}

TEST(SectionCopy, IsWholeWhereItIsLongerThanAPage) {
  auto section = entries(2000);
  section.insert(section.end(), 4, 0);
  EXPECT_EQ(fdes_in(copy_section(address_of(section.data()))), 2000);
}

TEST(SectionCopy, EndsWhereNothingCanBeRead) {
  PageBeforeNothing page;
  const auto section = entries(2);
  std::memcpy(page.end() - section.size(), section.data(), section.size());
  EXPECT_EQ(fdes_in(copy_section(address_of(page.end() - section.size()))), 2);
  EXPECT_EQ(copy_section(address_of(page.end())).bytes.view().size(), 0u);
}

// LLVM's libunwind is told of each FDE; its CIE lies somewhere in front of it.
TEST(SectionCopy, ReachesBackToTheCieOfALoneEntry) {
  auto section = entries(1);
  std::uint32_t cie_length = 0;
  std::memcpy(&cie_length, section.data(), sizeof cie_length);
  const auto copy = copy_section(address_of(section.data() + 4 + cie_length));
  EXPECT_EQ(copy.address, address_of(section.data()));
  EXPECT_EQ(copy.bytes.view().size(), section.size());
  EXPECT_EQ(fdes_in(copy), 1);
}

// The FDE of code at 0x1000 * (which + 1), as it lies in the section.
jitquill::unwind::FoundFde fde_in(const jitquill::frames::SectionCopy& copy, int which) {
  FdeWalk walk(copy.bytes.view(), copy.address);
  for (int i = 0; i < which; ++i) EXPECT_TRUE(walk.next().has_value());
  return walk.next().value_or(jitquill::unwind::FoundFde{});
}

TEST(SectionCopy, OfOneFunctionHasNothingOfTheOthers) {
  constexpr int kCount = 2000;
  auto section = entries(kCount);
  section.insert(section.end(), 4, 0);
  const auto whole = copy_section(address_of(section.data()));
  for (const int which : {0, 1, kCount / 2, kCount - 1}) {
    const auto fde = fde_in(whole, which);
    const auto place = jitquill::frames::place_of(whole, fde.address);
    const auto copy = jitquill::frames::copy_fde(place);
    EXPECT_LT(copy.bytes.view().size(), section.size() / kCount * 2 + 64) << which;
    const auto found = find_fde(copy.bytes.view(), copy.address, fde.pc_begin, fde.pc_size);
    ASSERT_TRUE(found.has_value()) << which;
    EXPECT_EQ(found->address, fde.address);
    EXPECT_TRUE(std::ranges::equal(found->cfi.initial, fde.cfi.initial));
    EXPECT_TRUE(std::ranges::equal(found->cfi.rows, fde.cfi.rows));
    EXPECT_FALSE(find_fde(copy.bytes.view(), copy.address, fde.pc_begin + 0x1000, 1).has_value());
  }
}

// A JIT that has written another function's over it and does not say so: nothing, rather than that.
TEST(SectionCopy, OfOneFunctionIsAsTheHostHasItNow) {
  auto section = entries(3);
  section.insert(section.end(), 4, 0);
  const auto whole = copy_section(address_of(section.data()));
  const auto fde = fde_in(whole, 1);
  const auto place = jitquill::frames::place_of(whole, fde.address);
  const auto found_at = [&](std::uint64_t address) {
    const auto copy = jitquill::frames::copy_fde(place);
    return find_fde(copy.bytes.view(), copy.address, address, 1).has_value();
  };
  EXPECT_TRUE(found_at(fde.pc_begin));
  std::uint8_t* const at = section.data() + (fde.address - whole.address);
  const std::uint64_t other = 0x9000;
  std::memcpy(at + 8, &other, sizeof other);
  EXPECT_FALSE(found_at(fde.pc_begin));
  EXPECT_TRUE(found_at(other));
  for (const std::uint32_t length : {0u, 3u, 0xFFFFu, 0xFFFFFFFFu}) {
    std::memcpy(at, &length, sizeof length);
    EXPECT_FALSE(found_at(other)) << length;
  }
}

TEST(SectionCopy, RefusesLengthsAndDistancesThatLeadOutside) {
  std::vector<std::uint8_t> section(64, 0xFF);
  EXPECT_EQ(copy_section(address_of(section.data())).bytes.view().size(), 0u);
  const std::uint32_t length = 16;
  std::memcpy(section.data(), &length, sizeof length);  // an FDE 4 GiB behind its CIE
  EXPECT_EQ(copy_section(address_of(section.data())).bytes.view().size(), 0u);
}

}  // namespace
