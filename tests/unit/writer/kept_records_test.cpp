#include "writer/eventlog/kept_records.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/writer/failing_new.hpp"

namespace jitquill::eventlog {
namespace {

void keep(KeptRecords& kept, std::uint64_t key, std::string_view words) {
  kept.keep(key, {reinterpret_cast<const std::uint8_t*>(words.data()), words.size()});
}

std::string record(const KeptRecords& kept, std::uint64_t key) {
  const auto bytes = kept.record(key);
  return {bytes.begin(), bytes.end()};
}

TEST(EventlogKeptRecords, GoOnBehindAMomentWithoutMemory) {
  KeptRecords kept;
  keep(kept, 1, "first");
  keep(kept, 2, "second");
  const std::string large(100'000, 'x');
  {
    const tests::NoMemoryHere none;
    keep(kept, 1, large);
  }
  EXPECT_EQ(record(kept, 1), "first");
  keep(kept, 1, large);
  kept.drop(2);
  keep(kept, 3, "third");
  EXPECT_EQ(record(kept, 1), large);
  EXPECT_FALSE(kept.has(2));
  EXPECT_EQ(record(kept, 3), "third");
}

TEST(EventlogKeptRecords, AreThoseOfBeforeWhereOthersAreThrownAway) {
  KeptRecords kept;
  keep(kept, 1, "first");
  for (int i = 0; i < 5; ++i) keep(kept, 2, std::string(50'000, static_cast<char>('a' + i)));
  keep(kept, 3, "third");
  EXPECT_EQ(record(kept, 1), "first");
  EXPECT_EQ(record(kept, 2), std::string(50'000, 'e'));
  EXPECT_EQ(record(kept, 3), "third");
}

}  // namespace
}  // namespace jitquill::eventlog
