// A VM whose structures are broken costs rows, never a fault or an endless loop.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <climits>
#include <random>

#include "agent/intake/jvmti/stretches.hpp"
#include "tests/unit/agent/jvmti/compile_info.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr std::uint32_t kSize = 64;
const int kIds[4] = {};
const MethodId kMethod = &kIds[0];
const void* const kNowhere = reinterpret_cast<const void*>(8);

class Hostile : public testing::Test {
 protected:
  std::vector<std::uint32_t> offsets(const CompiledMethod& compiled) {
    std::vector<std::uint32_t> found;
    for (const Stretch& stretch : stretches_of(compiled, scratch_)) found.push_back(stretch.offset);
    return found;
  }
  using Offsets = std::vector<std::uint32_t>;

  Scratch scratch_;
  CompileInfo info_{{{8, {{kMethod, 1}}}, {16, {{kMethod, 2}}}, {24, {{kMethod, 3}}}}};
};

TEST_F(Hostile, NothingIsTold) {
  EXPECT_EQ(offsets({kMethod, 0x1000, kSize, nullptr, 0, nullptr}), Offsets{});
}

TEST_F(Hostile, ACountWithoutAnArray) {
  EXPECT_EQ(offsets({kMethod, 0x1000, kSize, nullptr, 100, nullptr}), Offsets{});
  info_.record.places = nullptr;
  EXPECT_EQ(offsets(info_.compiled(kMethod, kSize)), Offsets{});
}

TEST_F(Hostile, CountsThatNoMethodHas) {
  for (const std::int32_t count : {INT_MAX, INT_MIN, -1, 0}) {
    info_.record.count = count;
    EXPECT_EQ(offsets(info_.compiled(kMethod, kSize)), Offsets{}) << count;
    const CodeStart start{info_.at(0), 0};
    EXPECT_EQ(offsets({kMethod, 0x1000, kSize, &start, count, nullptr}), Offsets{}) << count;
  }
}

TEST_F(Hostile, PointersThatLeadNowhere) {
  CompiledMethod compiled = info_.compiled(kMethod, kSize);
  compiled.compile_info = kNowhere;
  EXPECT_EQ(offsets(compiled), Offsets{});
  compiled.map = static_cast<const CodeStart*>(kNowhere);
  compiled.map_length = 3;
  EXPECT_EQ(offsets(compiled), Offsets{});
  info_.record.places = static_cast<const InlinePlace*>(kNowhere);
  EXPECT_EQ(offsets(info_.compiled(kMethod, kSize)), Offsets{});
}

TEST_F(Hostile, FramesThatCannotBeReadAreOfNoMethod) {
  info_.places[1].methods = static_cast<const MethodId*>(kNowhere);
  const auto stretches = stretches_of(info_.compiled(kMethod, kSize), scratch_);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].methods[0], kMethod);
  EXPECT_EQ(stretches[1].methods[0], nullptr);
  EXPECT_EQ(stretches[1].bytecodes[0], 2);
  EXPECT_EQ(stretches[2].methods[0], kMethod);
  EXPECT_EQ(stretches[2].bytecodes[0], 3);
}

TEST_F(Hostile, RecordsInACircle) {
  RecordHead first{1, 1, 0, nullptr};
  RecordHead second{7, 1, 0, &first};
  first.next = &second;
  EXPECT_EQ(offsets({kMethod, 0x1000, kSize, nullptr, 0, &first}), Offsets{});
}

TEST_F(Hostile, RecordsOfOtherKindsAndVersionsArePassedOver) {
  InlineRecord later = info_.record;
  later.head = {kInlineRecord, kRecordMajor + 1, 0, &info_.record.head};
  const RecordHead other{1, 1, 0, &later.head};
  CompiledMethod compiled = info_.compiled(kMethod, kSize);
  compiled.compile_info = &other;
  EXPECT_EQ(offsets(compiled), (Offsets{0, 8, 16}));
}

TEST_F(Hostile, AddressesOutsideOrBackwardsAreLeftOut) {
  const CompileInfo info({{8, {{kMethod, 0}}},
                          {8, {{kMethod, 0}}},
                          {4, {{kMethod, 0}}},
                          {0, {{kMethod, 0}}},
                          {kSize + 1, {{kMethod, 0}}},
                          {20, {}},
                          {kSize, {{kMethod, 0}}}});
  EXPECT_EQ(offsets(info.compiled(kMethod, kSize)), (Offsets{0, 8}));
}

TEST_F(Hostile, DepthsThatNoStackHas) {
  for (const std::int32_t depth : {INT_MAX, INT_MIN, -1, 0}) {
    info_.places[1].depth = depth;
    EXPECT_EQ(offsets(info_.compiled(kMethod, kSize)), (Offsets{0, 8})) << depth;
  }
}

TEST_F(Hostile, FramesAtTheEndOfTheAddressSpaceAndAtOddPlaces) {
  const auto whole = info_.places;
  for (const std::uintptr_t at :
       {~std::uintptr_t{7}, ~std::uintptr_t{0}, std::uintptr_t{8}, std::uintptr_t{1}}) {
    info_.places = whole;
    info_.places[1].methods = reinterpret_cast<const MethodId*>(at);
    const auto stretches = stretches_of(info_.compiled(kMethod, kSize), scratch_);
    ASSERT_EQ(stretches.size(), whole.size()) << at;
    EXPECT_EQ(stretches[1].methods[0], nullptr) << at;
    EXPECT_EQ(stretches[2].methods[0], whole[2].methods[0]) << at;
  }
}

TEST_F(Hostile, ManyDeepStacksAreCutAtTheBound) {
  const std::vector<CompileInfo::Frame> deep(512, {kMethod, 0});
  std::vector<CompileInfo::Place> places;
  for (std::uint32_t i = 1; i <= 3000; ++i) places.push_back({i, deep});
  const CompileInfo info(places);
  EXPECT_EQ(stretches_of(info.compiled(kMethod, 5000), scratch_).size(), (std::size_t{1} << 20) / 512);
}

TEST_F(Hostile, RandomRecordsGiveAscendingOffsetsInsideTheCode) {
  std::mt19937 random(20);
  const auto below = [&](std::uint32_t bound) { return random() % bound; };
  for (int round = 0; round < 2000; ++round) {
    Scratch scratch;
    for (InlinePlace& place : info_.places) {
      place.address = below(4) == 0 ? kNowhere : info_.at(below(2 * kSize));
      place.depth = static_cast<std::int32_t>(below(4)) - 1;
      if (below(4) == 0) place.methods = static_cast<const MethodId*>(kNowhere);
      if (below(4) == 0) place.bytecodes = nullptr;
    }
    std::int64_t before = -1;
    for (const Stretch& stretch : stretches_of(info_.compiled(kMethod, kSize), scratch)) {
      ASSERT_GT(std::int64_t{stretch.offset}, before);
      ASSERT_LT(stretch.offset, kSize);
      before = stretch.offset;
    }
  }
}

}  // namespace
}  // namespace jitquill::intake::jvmti
