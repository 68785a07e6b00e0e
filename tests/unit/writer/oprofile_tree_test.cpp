// The database's tree beside a map, and beside the algorithm as the specification tells it.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/reader.hpp"
#include "tests/unit/writer/plain_tree.hpp"
#include "writer/oprofile/database.hpp"

namespace jitquill::oprofile {
namespace {

using Counts = std::map<std::uint64_t, std::uint64_t>;
using Keys = std::vector<std::uint64_t>;

oprofile_reader::Database read_base(const tests::DatabaseFile& file) {
  const oprofile_reader::File read = oprofile_reader::read(file.bytes());
  EXPECT_EQ(describe(read.violations), "");
  return read.database;
}

void expect_counts(const oprofile_reader::Database& base, const Counts& counts) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected(counts.begin(), counts.end());
  EXPECT_EQ(base.counts.size(), expected.size());
  EXPECT_TRUE(base.counts == expected);
}

// The specification names the figures of this example and not its keys: these have as many that differ.
TEST(OprofileTree, HasTheFiguresOfTheSpecification) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(4)}), Status::kOk);
  EXPECT_EQ(base.total_pages(), 26u);
  std::mt19937 random(88);
  Counts counts;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t key = random() % 60'000;
    ++counts[key];
    ASSERT_EQ(base.add(key, 1), Status::kOk);
  }
  ASSERT_EQ(counts.size(), 4'777u);
  EXPECT_EQ(base.close(), Status::kOk);
  EXPECT_EQ(file.bytes().size(), 126'508u);
  const oprofile_reader::Database read = read_base(file);
  EXPECT_EQ(read.total, 832u);
  EXPECT_EQ(read.current, 594u);
  expect_counts(read, counts);
}

TEST(OprofileTree, BeginsWithWhat4096BytesHold) {
  for (const auto& [width, pages] : {std::pair(4, 26u), std::pair(8, 13u), std::pair(16, 6u)}) {
    const tests::DatabaseFile file;
    Database base;
    ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(static_cast<std::size_t>(width))}),
              Status::kOk);
    EXPECT_EQ(base.total_pages(), pages);
  }
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words(), .page_entries = 1000}), Status::kOk);
  EXPECT_EQ(base.total_pages(), 1u);
}

struct Sequence {
  const char* name;
  std::uint64_t (*key)(std::uint64_t i, std::uint64_t count, std::mt19937_64& random);
};

constexpr Sequence kSequences[] = {
    {"random", [](auto, auto, auto& random) -> std::uint64_t { return random(); }},
    {"random, many again",
     [](auto, auto count, auto& random) -> std::uint64_t { return random() % (count / 4 + 1); }},
    {"ascending", [](auto i, auto, auto&) -> std::uint64_t { return i; }},
    {"descending", [](auto i, auto, auto&) -> std::uint64_t { return ~i; }},
    {"from both ends", [](auto i, auto, auto&) -> std::uint64_t { return i % 2 != 0 ? i : ~i; }},
    {"towards the middle",
     [](auto i, auto count, auto&) -> std::uint64_t { return i % 2 != 0 ? i : 2 * count - i; }},
    {"always in front of 64 others",
     [](auto i, auto, auto&) -> std::uint64_t { return (i % 64) << 32 | (0xFFFF'FFFF - i); }},
    {"in strides", [](auto i, auto count, auto&) -> std::uint64_t { return i * 4099 % (count + 1); }},
};

std::uint64_t count_of_inserts(std::uint64_t page_entries) {
  if (std::getenv("JITQUILL_LONG") == nullptr) return 3'000;
  return page_entries == Database::kDefaultPageEntries ? 1'000'000 : 100'000;
}

TEST(OprofileTree, HoldsWhatAMapHolds) {
  for (const Sequence& sequence : kSequences) {
    for (const std::uint64_t page_entries : {4u, 12u}) {
      const std::uint64_t count = count_of_inserts(page_entries);
      const tests::DatabaseFile file;
      Database base;
      ASSERT_EQ(base.make(file.handle(), {.words = Words(), .page_entries = page_entries}), Status::kOk);
      std::mt19937_64 random(count);
      Counts counts;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t key = sequence.key(i, count, random), hits = i % 5 + 1;
        counts[key] += hits;
        ASSERT_EQ(base.add(key, hits), Status::kOk) << sequence.name;
      }
      EXPECT_EQ(base.close(), Status::kOk);
      expect_counts(read_base(file), counts);
      EXPECT_FALSE(HasFailure()) << sequence.name;
    }
  }
}

// Page for page, byte for byte: what is made anew and put back leaves no trace.
TEST(OprofileTree, IsWhatThePlainAlgorithmLeaves) {
  for (const Sequence& sequence : kSequences) {
    for (const std::uint64_t page_entries : {4u, 6u, 12u}) {
      const tests::DatabaseFile file;
      Database base;
      ASSERT_EQ(base.make(file.handle(), {.words = Words(), .page_entries = page_entries, .pages = 1}),
                Status::kOk);
      tests::PlainTree plain(page_entries, 1);
      std::mt19937_64 random(1);
      for (std::uint64_t i = 0; i < 700; ++i) {
        const std::uint64_t key = sequence.key(i, 700, random);
        ASSERT_EQ(base.add(key, 3), Status::kOk);
        plain.add(key, 3);
      }
      EXPECT_EQ(base.close(), Status::kOk);
      EXPECT_TRUE(file.bytes() == plain.bytes()) << sequence.name << ", " << page_entries;
    }
  }
}

TEST(OprofileTree, KeepsCountsAtTheirGreatest) {
  for (const std::size_t width : {1u, 2u, 3u, 8u}) {
    const tests::DatabaseFile file;
    Database base;
    const Words words = Words::big_endian(width);
    const auto most = static_cast<std::uint64_t>(words.nil());
    ASSERT_EQ(base.make(file.handle(), {.words = words, .page_entries = 4, .pages = 2}), Status::kOk);
    EXPECT_EQ(base.add(1, most - 1), Status::kOk);
    EXPECT_EQ(base.add(1, 1), Status::kOk);
    EXPECT_EQ(base.add(1, 1), Status::kOk);
    EXPECT_EQ(base.add(2, ~std::uint64_t{0}), Status::kOk);
    EXPECT_EQ(base.add(2, ~std::uint64_t{0}), Status::kOk);
    EXPECT_EQ(base.add(most, 5), Status::kOk);
    EXPECT_EQ(base.close(), Status::kOk);
    expect_counts(read_base(file), {{1, most}, {2, most}, {most, 5}});
  }
}

TEST(OprofileTree, RefusesWhatDoesNotFit) {
  const tests::DatabaseFile file;
  Database base;
  EXPECT_EQ(base.add(1, 1), Status::kBadArgument);
  EXPECT_EQ(base.close(), Status::kBadArgument);
  for (const std::uint64_t wrong : {0u, 2u, 5u, 1u << 21})
    EXPECT_EQ(base.make(-1, {.words = Words(), .page_entries = wrong}), Status::kBadArgument);
  EXPECT_EQ(base.make(-1, {.words = Words::little_endian(1), .pages = 256}), Status::kTooLarge);
  EXPECT_EQ(base.make(-1, {.words = Words(), .pages = ~std::uint64_t{0} / 8}), Status::kTooLarge);
  EXPECT_EQ(base.make(-1, {}), Status::kWriteFailed);
  ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(2)}), Status::kOk);
  EXPECT_EQ(base.add(0x10000, 1), Status::kTooLarge);
  EXPECT_EQ(base.add(1, 0), Status::kBadArgument);
  EXPECT_EQ(base.close(), Status::kOk);
  expect_counts(read_base(file), {});
}

// Each page has two keys or more: there are never more pages than numbers.
TEST(OprofileTree, TakesEveryKeyThatItsWordsHave) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(1), .page_entries = 4, .pages = 1}),
            Status::kOk);
  Counts counts;
  for (std::uint64_t key = 0; key < 256; ++key) {
    EXPECT_EQ(base.add(key, 1), Status::kOk);
    counts[key] = 1;
  }
  EXPECT_EQ(base.close(), Status::kOk);
  expect_counts(read_base(file), counts);
}

// As a quota or a full disk.
TEST(OprofileTree, KeepsItsCountsWhenTheFileCannotGrow) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words()}), Status::kOk);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Counts counts;
  Status last = Status::kOk;
  for (std::uint64_t key = 0; key < 2'000; ++key) {
    const Status status = base.add(key * 7919 % 2'000, 1);
    if (status == Status::kOk) ++counts[key * 7919 % 2'000];
    if (status != Status::kOk) last = status;
  }
  EXPECT_EQ(last, Status::kNoSpace);
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(base.add(1'999, 1), Status::kOk);
  ++counts[1'999];
  EXPECT_EQ(base.close(), Status::kOk);
  expect_counts(read_base(file), counts);
  EXPECT_GT(counts.size(), 100u);
}

TEST(OprofileTree, LeavesAFileAloneThatTookItsDescriptor) {
  const tests::DatabaseFile file;
  Database base;
  const int number = file.handle();
  ASSERT_EQ(base.make(number, {.words = Words()}), Status::kOk);
  const tests::DatabaseFile another;
  const int from = another.handle();
  ASSERT_EQ(::dup2(from, number), number);
  ::close(from);
  Status status = Status::kOk;
  for (std::uint64_t key = 0; key < 1'000 && status == Status::kOk; ++key) status = base.add(key, 1);
  EXPECT_EQ(status, Status::kWriteFailed);
  (void)base.close();
  EXPECT_EQ(another.bytes().size(), 0u);
  EXPECT_EQ(::fcntl(number, F_GETFD) >= 0, true);
  ::close(number);
}

}  // namespace
}  // namespace jitquill::oprofile
