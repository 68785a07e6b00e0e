// A ring that is read between any two stores, as after a SIGKILL: whole entries, the newest of them, and
// nothing that was never put.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/writer/openj9_trace.hpp"
#include "writer/openj9/ring.hpp"
#include "writer/openj9/trace_point.hpp"

namespace jitquill::openj9 {
namespace {

using tests::kClock;

constexpr std::size_t kSize = 600;

// Looks on at each byte that is stored.
struct WatchedStores {
  static inline std::vector<std::string>* states = nullptr;
  static inline const std::uint8_t* record = nullptr;

  static void look() { states->emplace_back(reinterpret_cast<const char*>(record), kSize); }
  static void bytes(std::uint8_t* at, std::span<const std::uint8_t> from) {
    for (const std::uint8_t byte : from) u8(at++, byte);
  }
  static void u8(std::uint8_t* at, std::uint8_t v) {
    *at = v;
    look();
  }
  static void u32(std::uint8_t* at, std::uint32_t v) {
    std::memcpy(at, &v, sizeof v);
    look();
  }
  static void u64(std::uint8_t* at, std::uint64_t v) {
    std::memcpy(at, &v, sizeof v);
    look();
  }
};

std::string name_of(std::size_t i) {
  return "f" + std::to_string(i) + std::string(i * 7 % 20, '.');
}

template <class Case>
class OpenJ9Ring : public testing::Test {};
TYPED_TEST_SUITE(OpenJ9Ring, tests::Targets);

// Puts 120 entries `step` apart, and reads after each store.
template <Target kTarget>
void check_all_states(std::uint64_t step) {
  alignas(8) std::uint8_t record[kSize] = {};
  Ring<kTarget, WatchedStores> ring;
  std::vector<std::string> states;
  WatchedStores::states = &states;
  WatchedStores::record = record;
  ASSERT_TRUE(ring.open(record, kClock, {0x12, 7, "ring"}, kClock.start_ticks));
  const std::string header = tests::header<kTarget>(kSize, Type::kInternal);
  const auto catalogue = tests::own_templates();
  std::size_t least_seen = kSize;
  for (std::size_t i = 0; i < 120; ++i) {
    states.clear();
    Bytes parameters;
    ASSERT_EQ((put_parameters<kTarget, Point::kEnter>(100, parameters, std::string_view(name_of(i)))),
              Status::kOk);
    ASSERT_EQ(ring.put(kClock.start_ticks + i * step, head_of<kTarget>(Point::kEnter), parameters.view()),
              Status::kOk);
    for (const std::string& state : states) {
      auto file = openj9_reader::read(header + state);
      std::erase_if(file.violations, [](const auto& v) { return v.rule == openj9_reader::Rule::kEmpty; });
      ASSERT_EQ(describe(file.violations), "") << i;
      // The newest is this one or the one before; each in front of it is the one before that.
      const std::size_t seen = file.entries.size();
      ASSERT_TRUE(seen != 0 || i == 0);
      for (std::size_t k = 0; k < seen; ++k) {
        const auto& entry = file.entries[seen - 1 - k];
        const std::size_t newest = file.entries.back().ticks == kClock.start_ticks + i * step ? i : i - 1;
        ASSERT_EQ(entry.ticks, kClock.start_ticks + (newest - k) * step);
        std::vector<openj9_reader::Violation> violations;
        ASSERT_EQ(message(file, entry, *catalogue.find("jqm", 0), violations), " >" + name_of(newest - k));
        ASSERT_EQ(describe(violations), "");
      }
      if (i > 60) least_seen = std::min(least_seen, seen);
    }
    ASSERT_EQ(openj9_reader::read(header + states.back()).entries.back().ticks,
              kClock.start_ticks + i * step);
  }
  EXPECT_GT(least_seen, 8u);  // of about 17 that there is room for
}

TYPED_TEST(OpenJ9Ring, IsWholeAfterEachStore) {
  check_all_states<TypeParam::kTarget>(1000);
}

TYPED_TEST(OpenJ9Ring, IsWholeAfterEachStoreWhenTheClockWraps) {
  check_all_states<TypeParam::kTarget>((1ULL << 32) / 3);
}

TEST(OpenJ9Ring, ManyThreadsAreAFile) {
  std::string file = tests::header<kHost>(kSize, Type::kInternal);
  for (std::uint64_t key = 1; key <= 20; ++key) {
    alignas(8) std::uint8_t record[kSize] = {};
    Ring<kHost> ring;
    ASSERT_TRUE(ring.open(record, kClock, {key, key, "t"}, kClock.start_ticks));
    Bytes parameters;
    (void)put_parameters<kHost, Point::kEnter>(100, parameters, std::string_view("f"));
    for (std::uint64_t i = 0; i < key * 5; ++i)
      ASSERT_EQ(ring.put(kClock.start_ticks + i * 20 + key, head_of<kHost>(Point::kEnter), parameters.view()),
                Status::kOk);
    file.append(reinterpret_cast<const char*>(record), kSize);
  }
  const auto read = openj9_reader::read(file);
  EXPECT_EQ(describe(read.violations), "");
  EXPECT_EQ(read.of(2).size(), 10u);
  EXPECT_EQ(read.of(20).back().ticks, kClock.start_ticks + 99 * 20 + 20);
}

TEST(OpenJ9Ring, AnEntryHasAtMostAQuarter) {
  alignas(8) std::uint8_t record[kSize] = {};
  Ring<kHost> ring;
  ASSERT_TRUE(ring.open(record, kClock, {1, 1, "t"}, kClock.start_ticks));
  const std::vector<std::uint8_t> many(ring.most_room());
  EXPECT_EQ(ring.put(kClock.start_ticks, head_of<kHost>(Point::kEnter), many), Status::kTooLarge);
}

}  // namespace
}  // namespace jitquill::openj9
