// Going on in a database or a hash map that was closed, was killed, or is damaged.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/reader.hpp"
#include "tests/unit/writer/plain_tree.hpp"
#include "writer/oprofile/database.hpp"
#include "writer/oprofile/hash_file.hpp"
#include "writer/oprofile/hash_map.hpp"

namespace jitquill::oprofile {
namespace {

using Counts = std::map<std::uint64_t, std::uint64_t>;

constexpr Database::Shape kSmall{.words = Words(), .page_entries = 4, .pages = 1};

Counts counts_of(const tests::DatabaseFile& file) {
  const oprofile_reader::File read = oprofile_reader::read(file.bytes());
  EXPECT_EQ(describe(read.violations), "");
  return {read.database.counts.begin(), read.database.counts.end()};
}

std::uint64_t key(std::uint64_t i) {
  return i * 7919 % 1'009;
}

TEST(OprofileReopen, GoesOnAsIfItHadNotBeenClosed) {
  for (const std::uint64_t closed_behind : {0u, 1u, 4u, 5u, 77u}) {
    const tests::DatabaseFile file;
    tests::PlainTree plain(4, 1);
    Database base;
    ASSERT_EQ(base.make(file.handle(), kSmall), Status::kOk);
    for (std::uint64_t i = 0; i < 300; ++i) {
      if (i == closed_behind) {
        ASSERT_EQ(base.close(), Status::kOk);
        ASSERT_EQ(base.open(file.handle()).status, Status::kOk);
      }
      ASSERT_EQ(base.add(key(i), i + 1), Status::kOk);
      plain.add(key(i), i + 1);
    }
    ASSERT_EQ(base.close(), Status::kOk);
    EXPECT_TRUE(file.bytes() == plain.bytes()) << closed_behind;
  }
}

// A copy of the file after each insert is what a kill leaves there.
TEST(OprofileReopen, GoesOnWhereItWasKilled) {
  const tests::DatabaseFile first;
  Database base;
  ASSERT_EQ(base.make(first.handle(), kSmall), Status::kOk);
  Counts counts;
  for (std::uint64_t i = 0; i < 60; ++i) {
    ASSERT_EQ(base.add(key(i), 1), Status::kOk);
    ++counts[key(i)];
    const tests::DatabaseFile copy;
    copy.put(first.bytes());
    Database next;
    ASSERT_EQ(next.open(copy.handle()).status, Status::kOk);
    ASSERT_EQ(next.add(5'000, 2), Status::kOk);
    ASSERT_EQ(next.close(), Status::kOk);
    Counts expected = counts;
    expected[5'000] = 2;
    ASSERT_EQ(counts_of(copy), expected);
  }
}

// A page that is in use and in no tree stands for what an insert had made: here the first, in the middle, and
// all behind the last are such.
TEST(OprofileReopen, TakesPagesBackThatAreNotInTheTree) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words(), .page_entries = 4, .pages = 64}), Status::kOk);
  Counts counts;
  for (std::uint64_t i = 0; i < 40; ++i) {
    ++counts[key(i)];
    ASSERT_EQ(base.add(key(i), 1), Status::kOk);
  }
  const std::uint64_t in_use = base.pages_in_use();
  ASSERT_EQ(base.close(), Status::kOk);
  std::vector<std::uint8_t> bytes = file.bytes();
  constexpr std::size_t kPagesAt = 16 + 8 * 8, kPageSize = 14 * 8, kInUseAt = 16 + 8, kRootAt = 16 + 16;
  const auto word = [&](std::size_t at) -> std::uint64_t& {
    return *reinterpret_cast<std::uint64_t*>(bytes.data() + at);
  };
  const std::uint64_t root = word(kRootAt);
  std::copy_n(bytes.data() + kPagesAt + root * kPageSize, kPageSize,
              bytes.data() + kPagesAt + (in_use + 1) * kPageSize);
  word(kRootAt) = in_use + 1;
  word(kInUseAt) = in_use + 3;
  const tests::DatabaseFile damaged;
  damaged.put(bytes);
  ASSERT_EQ(base.open(damaged.handle()).status, Status::kOk);
  EXPECT_EQ(base.pages_in_use(), in_use);
  ASSERT_EQ(base.close(), Status::kOk);
  EXPECT_EQ(counts_of(damaged), counts);
}

TEST(OprofileReopen, RefusesWhatIsDamagedAndSaysWhere) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), kSmall), Status::kOk);
  for (std::uint64_t i = 0; i < 30; ++i) ASSERT_EQ(base.add(key(i), 1), Status::kOk);
  ASSERT_EQ(base.close(), Status::kOk);
  const std::vector<std::uint8_t> whole = file.bytes();
  constexpr std::size_t kRootAt = 16 + 16, kPagesAt = 16 + 64;
  const auto opened = [&](std::vector<std::uint8_t> bytes) {
    const tests::DatabaseFile damaged;
    damaged.put(bytes);
    const Opened result = base.open(damaged.handle());
    EXPECT_FALSE(base.is_open());
    EXPECT_TRUE(damaged.bytes() == bytes);
    EXPECT_EQ(base.add(1, 1), Status::kBadArgument);
    return result;
  };
  const auto with = [&](std::size_t at, std::uint8_t byte) {
    std::vector<std::uint8_t> bytes = whole;
    bytes[at] = byte;
    return bytes;
  };
  for (const Opened& result : {opened({}), opened({'o', 'p'}), opened(with(2, 'n')), opened(with(4, 9))}) {
    EXPECT_EQ(result.status, Status::kBadArgument);
    EXPECT_EQ(result.rule, FileRule::kHeader);
  }
  EXPECT_EQ(opened({whole.begin(), whole.end() - 300}).rule, FileRule::kTreeSize);
  const Opened out = opened(with(kRootAt, 0xEE));
  EXPECT_EQ(out.rule, FileRule::kLink);
  const Opened full = opened(with(kPagesAt, 99));
  EXPECT_EQ(full.rule, FileRule::kPageCount);
  EXPECT_EQ(full.at, kPagesAt);
  EXPECT_EQ(base.open(-1).status, Status::kWriteFailed);
}

// Whatever a byte becomes, the file is refused, or is one that goes on.
TEST(OprofileReopen, GoesOnInNothingThatIsHalfATree) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), kSmall), Status::kOk);
  for (std::uint64_t i = 0; i < 25; ++i) ASSERT_EQ(base.add(key(i), 1), Status::kOk);
  ASSERT_EQ(base.close(), Status::kOk);
  const std::vector<std::uint8_t> whole = file.bytes();
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 1'500; ++i) {
    std::vector<std::uint8_t> bytes = whole;
    for (int j = 0; j <= i % 3; ++j) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    const tests::DatabaseFile damaged;
    damaged.put(bytes);
    if (base.open(damaged.handle()).status != Status::kOk) {
      ++refused;
      continue;
    }
    for (std::uint64_t k = 0; k < 20; ++k) ASSERT_EQ(base.add(k * 331, 1), Status::kOk);
    ASSERT_EQ(base.close(), Status::kOk);
    const auto read = oprofile_reader::read(damaged.bytes());
    for (const oprofile_reader::Violation& violation : read.violations) {
      EXPECT_TRUE(violation.rule == oprofile_reader::Rule::kReserved ||
                  violation.rule == oprofile_reader::Rule::kTreeUnused)
          << describe(read.violations);
    }
  }
  EXPECT_GT(refused, 300);
}

// Byte for byte, in words of any width, closed and opened on the way.
TEST(OprofileReopen, HashFileIsWhatTheHashMapWouldBe) {
  for (const Words& words : {Words(), Words::big_endian(4), Words::little_endian(5), Words::big_endian(16)}) {
    const tests::DatabaseFile file;
    HashFile map;
    HashMap plain;
    ASSERT_EQ(map.make(file.handle(), {.words = words, .entries = 211, .pool_size = 4'096}), Status::kOk);
    ASSERT_EQ(plain.make(211, 4'096), Status::kOk);
    for (int i = 0; i < 150; ++i) {
      const std::string path = "/jit/" + std::to_string(i % 7) + "/f(" + std::to_string(i % 120) + ")";
      const auto added = map.add_path(path), expected = plain.add_path(path);
      ASSERT_EQ(added.status, Status::kOk);
      ASSERT_EQ(added.index, expected.index);
      if (i != 60) continue;
      ASSERT_EQ(map.close(), Status::kOk);
      ASSERT_EQ(map.open(file.handle()).status, Status::kOk);
    }
    EXPECT_EQ(map.used(), plain.used());
    ASSERT_EQ(map.close(), Status::kOk);
    Bytes whole;
    ASSERT_EQ(plain.put(words, whole), Status::kOk);
    const std::vector<std::uint8_t> bytes = file.bytes();
    EXPECT_TRUE(std::ranges::equal(bytes, whole.view()));
  }
}

TEST(OprofileReopen, HashFileSaysWhenItIsFullAndKeepsWhatItHas) {
  const tests::DatabaseFile file;
  HashFile map;
  EXPECT_EQ(map.make(file.handle(), {.words = Words(), .entries = 12}), Status::kBadArgument);
  EXPECT_EQ(map.make(file.handle(), {.words = Words::little_endian(1), .entries = 257}), Status::kTooLarge);
  ASSERT_EQ(map.make(file.handle(), {.words = Words::little_endian(1), .entries = 7, .pool_size = 200}),
            Status::kOk);
  EXPECT_EQ(map.add(0, std::string(250, 'x')).status, Status::kFull);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(map.add(0, std::to_string(i)).status, Status::kOk);
  EXPECT_EQ(map.add(0, "7").status, Status::kFull);
  EXPECT_EQ(map.add(0, "5").status, Status::kOk);
  ASSERT_EQ(map.close(), Status::kOk);
  const auto read = oprofile_reader::read(file.bytes());
  EXPECT_EQ(describe(read.violations), "");
  EXPECT_EQ(read.paths.size(), 6u);
}

// So that the next free one is never far: a runtime may go on with any number of functions.
TEST(OprofileReopen, HashFileKeepsEntriesFree) {
  const tests::DatabaseFile file;
  HashFile map;
  ASSERT_EQ(map.make(file.handle(), {.words = Words(), .entries = 211, .pool_size = 4'096}), Status::kOk);
  int added = 0;
  while (added < 211 && map.add(0, std::to_string(added)).status == Status::kOk) ++added;
  EXPECT_EQ(map.used(), HashFile::most_used(211));
  EXPECT_LE(map.used(), 200u);
  EXPECT_EQ(map.add(0, "another").status, Status::kFull);
  EXPECT_EQ(map.add(0, std::to_string(added - 1)).status, Status::kOk);
}

TEST(OprofileReopen, HashFileRefusesWhatIsDamaged) {
  const tests::DatabaseFile file;
  HashFile map;
  ASSERT_EQ(map.make(file.handle(), {.words = Words::little_endian(4), .entries = 11, .pool_size = 64}),
            Status::kOk);
  for (const char* path : {"/tmp/jit/a", "/tmp/jit/b", "/usr"})
    ASSERT_EQ(map.add_path(path).status, Status::kOk);
  ASSERT_EQ(map.close(), Status::kOk);
  const std::vector<std::uint8_t> whole = file.bytes();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::uint8_t> bytes = whole;
    bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    const tests::DatabaseFile damaged;
    damaged.put(bytes);
    const Opened opened = map.open(damaged.handle());
    if (opened.status != Status::kOk) {
      ++refused;
      EXPECT_FALSE(map.is_open());
      EXPECT_TRUE(damaged.bytes() == bytes);
      continue;
    }
    (void)map.add_path("/one/more");
    EXPECT_EQ(map.close(), Status::kOk);
  }
  EXPECT_GT(refused, 200);
}

TEST(OprofileReopen, HashFileHasRoomForItsRoot) {
  const Words words = Words::little_endian(4);
  for (const std::uint8_t size : {std::uint8_t{0}, std::uint8_t{1}}) {
    const tests::DatabaseFile file;
    HashFile map;
    ASSERT_EQ(map.make(file.handle(), {.words = words, .entries = 11, .pool_size = 64}), Status::kOk);
    ASSERT_EQ(map.close(), Status::kOk);
    std::vector<std::uint8_t> bytes = file.bytes();
    bytes[header_size(words) + words.width()] = size;
    file.put(bytes);
    const Opened opened = map.open(file.handle());
    EXPECT_EQ(opened.status, Status::kBadArgument);
    EXPECT_EQ(opened.rule, FileRule::kMapSize);
  }
}

}  // namespace
}  // namespace jitquill::oprofile
