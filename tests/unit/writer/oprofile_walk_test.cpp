// What the walk that the command shows and checks files by makes of the worked examples, and of damaged ones.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/hex.hpp"
#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/examples.hpp"
#include "writer/oprofile/database.hpp"
#include "writer/oprofile/file_walk.hpp"

namespace jitquill::oprofile {
namespace {

namespace examples = oprofile_reader::examples;
using tests::from_hex;
using FileBytes = std::vector<std::uint8_t>;

struct Seen final : FileVisitor {
  void note(std::uint64_t, const Mapping& note, std::uint64_t type) override { notes[type] = note; }
  void buffer(std::uint64_t, std::uint64_t cpu, std::uint64_t state, std::uint64_t count) override {
    buffers.push_back({cpu, state, count});
  }
  void sample(std::uint64_t, const Sample& sample) override { hits[sample.address] += sample.count; }
  void path(std::uint64_t index, std::string_view path) override { paths[index] = path; }
  void tree(const TreeSizes& of) override { sizes = of; }
  void count(std::uint64_t, std::uint64_t key, std::uint64_t count) override { hits[key] += count; }
  void found(std::uint64_t, FileRule rule) override { rules.push_back(text_of(rule).name); }

  std::map<std::uint64_t, Mapping> notes;
  std::vector<std::vector<std::uint64_t>> buffers;
  std::map<std::uint64_t, std::uint64_t> hits;
  std::map<std::uint64_t, std::string> paths;
  TreeSizes sizes = {};
  std::vector<std::string> rules;
};

Seen walk(const FileBytes& bytes) {
  Seen seen;
  walk_file(bytes, seen);
  return seen;
}

using Rules = std::vector<std::string>;
using Hits = std::map<std::uint64_t, std::uint64_t>;

TEST(OprofileWalk, SeesTheWorkedExamples) {
  for (const auto spelled : {examples::kNotesLittle4, examples::kNotesBig8, examples::kNotesMixed5}) {
    Seen seen = walk(from_hex(spelled));
    EXPECT_EQ(seen.rules, Rules());
    EXPECT_EQ(seen.notes[2].address, 0x12345000u);
    EXPECT_EQ(seen.notes[2].path, 6u);
    EXPECT_EQ(seen.notes[16].pid, 0x1234u);
  }
  for (const auto spelled : {examples::kSamplesLittle4, examples::kSamplesMixed5}) {
    const Seen seen = walk(from_hex(spelled));
    EXPECT_EQ(seen.rules, Rules());
    EXPECT_EQ(seen.buffers, (std::vector<std::vector<std::uint64_t>>{{1, 2, 2}, {0, 1, 0}}));
    EXPECT_EQ(seen.hits, (Hits{{0x12345010, 3}, {0x12345024, 1}}));
  }
  const Seen map = walk(from_hex(examples::kHashMapLittle4));
  EXPECT_EQ(map.rules, Rules());
  EXPECT_EQ(map.paths, (std::map<std::uint64_t, std::string>{
                           {1, "/tmp"}, {6, "/tmp/jit/a"}, {7, "/tmp/jit/b"}, {10, "/tmp/jit"}}));
  const Seen base = walk(from_hex(examples::kDatabaseLittle4));
  EXPECT_EQ(base.rules, Rules());
  EXPECT_EQ(base.hits, (Hits{{0x10, 10}, {0x20, 2}, {0x30, 3}, {0x40, 4}, {0x50, 5}}));
  EXPECT_EQ(base.sizes.in_use, 3u);
  EXPECT_EQ(walk(from_hex(examples::kEmptyDatabaseLittle2)).rules, Rules());
}

struct Damage {
  const char* rule;
  std::string_view example;
  std::size_t at;
  std::string_view bytes;
  int longer = 0;
};

constexpr Damage kDamages[] = {
    {"header", examples::kNotesLittle4, 3, "78"},
    {"header", examples::kNotesLittle4, 4, "02"},
    {"header", examples::kNotesLittle4, 6, "00"},
    {"header", examples::kNotesLittle4, 6, "11"},
    {"header", examples::kNotesLittle4, 8, "01"},
    {"header", examples::kNotesLittle4, 0, "", -50},
    {"note-type", examples::kNotesLittle4, 0x20, "03"},
    {"torn", examples::kNotesLittle4, 0, "", -1},
    {"state", examples::kSamplesLittle4, 0x14, "03"},
    {"torn", examples::kSamplesLittle4, 0x10, "ffffffff"},
    {"tail", examples::kHashMapLittle4, 0, "", 1},
    {"map-size", examples::kHashMapLittle4, 0x0C, "ffffffff"},
    {"path", examples::kHashMapLittle4, 0x18, "01"},
    {"path", examples::kHashMapLittle4, 0x1C, "20"},
    {"path", examples::kHashMapLittle4, 0x79, "78"},
    {"path", examples::kHashMapLittle4, 0x48, "03"},
    {"path", examples::kHashMapLittle4, 0x68, "06"},
    {"tree-size", examples::kDatabaseLittle4, 0, "", -1},
    {"tree-size", examples::kDatabaseLittle4, 0x18, "05"},
    {"tree-size", examples::kDatabaseLittle4, 0x10, "05"},
    {"tail", examples::kDatabaseLittle4, 0, "", 1},
    {"link", examples::kDatabaseLittle4, 0x14, "03"},
    {"link", examples::kDatabaseLittle4, 0xA4, "00"},
    {"page-count", examples::kDatabaseLittle4, 0x2C, "01"},
    {"order", examples::kDatabaseLittle4, 0x3C, "20"},
    {"depth", examples::kDatabaseLittle4, 0xA4, "ffffffff"},
    {"lost", examples::kDatabaseLittle4, 0x10, "04"},
};

TEST(OprofileWalk, FindsEachKindOfDamage) {
  std::set<std::string> tried;
  for (const Damage& damage : kDamages) {
    FileBytes bytes = from_hex(damage.example);
    const FileBytes put = from_hex(damage.bytes);
    std::copy(put.begin(), put.end(), bytes.begin() + static_cast<std::ptrdiff_t>(damage.at));
    bytes.resize(bytes.size() + static_cast<std::size_t>(damage.longer));
    const Seen seen = walk(bytes);
    ASSERT_FALSE(seen.rules.empty()) << damage.rule;
    EXPECT_EQ(seen.rules[0], damage.rule) << damage.at;
    tried.insert(damage.rule);
  }
#define FILE_RULE(id, name, weight, readers) EXPECT_TRUE(tried.count(name)) << name;
#include "writer/oprofile/file_rule.def"
#undef FILE_RULE
}

// With a sanitizer that is what it looks for.
TEST(OprofileWalk, StaysInsideOfDamagedFiles) {
  for (const auto spelled : {examples::kNotesLittle4, examples::kSamplesMixed5, examples::kHashMapLittle4,
                             examples::kDatabaseLittle4, examples::kEmptyDatabaseLittle2}) {
    const FileBytes whole = from_hex(spelled);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      (void)walk(FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
      for (const int value : {0x00, 0x01, 0x03, 0x7F, 0x80, 0xFF}) {
        FileBytes changed = whole;
        changed[i] = static_cast<std::uint8_t>(value);
        (void)walk(changed);
      }
    }
  }
}

TEST(OprofileWalk, FindsNothingInADatabaseOfThousands) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words::big_endian(3)}), Status::kOk);
  Hits hits;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const std::uint64_t key = i * 7919 % 4'001;
    EXPECT_EQ(base.add(key, 2), Status::kOk);
    hits[key] += 2;
  }
  EXPECT_EQ(walk(file.bytes()).hits, hits);  // as it is while somebody writes
  EXPECT_EQ(base.close(), Status::kOk);
  const Seen seen = walk(file.bytes());
  EXPECT_EQ(seen.rules, Rules());
  EXPECT_EQ(seen.hits, hits);
}

}  // namespace
}  // namespace jitquill::oprofile
