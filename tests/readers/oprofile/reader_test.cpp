// The strict reader finds what the worked examples hold, and reports each broken rule.
#include "tests/readers/oprofile/reader.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/hex.hpp"
#include "tests/readers/oprofile/examples.hpp"

namespace oprofile_reader {
namespace {

using jitquill::tests::from_hex;
using Bytes = std::vector<std::uint8_t>;

File read_example(std::string_view spelled, Kind kind) {
  File file = read(from_hex(spelled));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.kind, kind);
  return file;
}

TEST(OprofileReader, ReadsNotesOfEachWidthAndOrder) {
  for (const auto spelled : {examples::kNotesLittle4, examples::kNotesBig8, examples::kNotesMixed5}) {
    const File file = read_example(spelled, Kind::kNotes);
    ASSERT_EQ(file.notes.size(), 2u);
    EXPECT_EQ(file.notes[0].address, 0x12345000u);
    EXPECT_EQ(file.notes[0].length, 0x40u);
    EXPECT_EQ(file.notes[0].offset, 0u);
    EXPECT_EQ(file.notes[0].path, 6u);
    EXPECT_EQ(file.notes[0].pid, 0x1234u);
    EXPECT_EQ(file.notes[0].type, 2u);
    EXPECT_EQ(file.notes[1].pid, 0x1234u);
    EXPECT_EQ(file.notes[1].type, 16u);
  }
}

TEST(OprofileReader, ReadsSamples) {
  for (const auto spelled : {examples::kSamplesLittle4, examples::kSamplesMixed5}) {
    const File file = read_example(spelled, Kind::kSamples);
    ASSERT_EQ(file.buffers.size(), 2u);
    EXPECT_EQ(file.buffers[0].cpu, 1u);
    EXPECT_EQ(file.buffers[0].state, 2u);
    ASSERT_EQ(file.buffers[0].samples.size(), 2u);
    EXPECT_EQ(file.buffers[0].samples[0].address, 0x12345010u);
    EXPECT_EQ(file.buffers[0].samples[0].count, 3u);
    EXPECT_EQ(file.buffers[0].samples[1].address, 0x12345024u);
    EXPECT_EQ(file.buffers[0].samples[1].pid, 0x1234u);
    EXPECT_EQ(file.buffers[1].state, 1u);
    EXPECT_TRUE(file.buffers[1].samples.empty());
  }
}

TEST(OprofileReader, ReadsAHashMap) {
  const File file = read_example(examples::kHashMapLittle4, Kind::kHashMap);
  EXPECT_EQ(file.map_size, 11u);
  EXPECT_EQ(file.paths, (std::map<std::uint64_t, std::string>{
                            {1, "/tmp"}, {6, "/tmp/jit/a"}, {7, "/tmp/jit/b"}, {10, "/tmp/jit"}}));
}

TEST(OprofileReader, ReadsADatabase) {
  const Database base = read_example(examples::kDatabaseLittle4, Kind::kDatabase).database;
  EXPECT_EQ(base.counts, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                             {0x10, 10}, {0x20, 2}, {0x30, 3}, {0x40, 4}, {0x50, 5}}));
  EXPECT_EQ(base.depth, 2u);
  EXPECT_EQ(base.reached, 3u);
  const Database empty = read_example(examples::kEmptyDatabaseLittle2, Kind::kDatabase).database;
  EXPECT_FALSE(empty.root);
  EXPECT_EQ(empty.total, 1u);
  EXPECT_EQ(empty.depth, 0u);
}

struct Damage {
  Rule rule;
  std::string_view example;
  std::size_t at;
  std::string_view bytes;  // in hex, put there
  int longer = 0;          // or shorter
};

constexpr Damage kDamages[] = {
    {Rule::kMagic, examples::kNotesLittle4, 3, "78"},
    {Rule::kMagic, examples::kNotesLittle4, 0, "", -53},
    {Rule::kVersion, examples::kNotesLittle4, 4, "02"},
    {Rule::kWidth, examples::kNotesLittle4, 6, "00"},
    {Rule::kPermutation, examples::kNotesLittle4, 8, "01"},
    {Rule::kPermutation, examples::kNotesLittle4, 11, "04"},
    {Rule::kHeader, examples::kNotesLittle4, 0, "", -49},
    {Rule::kReserved, examples::kNotesLittle4, 7, "01"},
    {Rule::kReserved, examples::kDatabaseLittle4, 0x1C, "01"},
    {Rule::kWide, "6f706e6401001000 000102030405060708090a0b0c0d0e0f 00000000000000000000000001000000", 0, "",
     80},
    {Rule::kNoteTorn, examples::kNotesLittle4, 0, "", -1},
    {Rule::kNoteType, examples::kNotesLittle4, 0x20, "03"},
    {Rule::kNoteUnused, examples::kNotesLittle4, 0x24, "01"},
    {Rule::kBufferTorn, examples::kSamplesLittle4, 0, "", -1},
    {Rule::kBufferTorn, examples::kSamplesLittle4, 0x10, "03"},
    {Rule::kBufferTorn, examples::kSamplesLittle4, 0x10, "ffffffff"},
    {Rule::kBufferState, examples::kSamplesLittle4, 0x14, "03"},
    {Rule::kSampleCount, examples::kSamplesLittle4, 0x1C, "00"},
    {Rule::kMapSize, examples::kHashMapLittle4, 0, "", 1},
    {Rule::kMapSize, examples::kHashMapLittle4, 0x0C, "ffffffff"},
    {Rule::kMapPrime, "6f70686401000100 00 01 02 00 00 2f00", 0, ""},
    {Rule::kMapRoot, examples::kHashMapLittle4, 0x18, "01"},
    {Rule::kMapName, examples::kHashMapLittle4, 0x1C, "20"},
    {Rule::kMapName, examples::kHashMapLittle4, 0x79, "78"},
    {Rule::kMapComponent, examples::kHashMapLittle4, 0x1C, "01"},
    {Rule::kMapComponent, examples::kHashMapLittle4, 0x1C, "00"},
    {Rule::kMapParent, examples::kHashMapLittle4, 0x48, "03"},
    {Rule::kMapCycle, examples::kHashMapLittle4, 0x68, "06"},
    {Rule::kMapTwice, examples::kHashMapLittle4, 0x4C, "0a"},
    {Rule::kTreeSize, examples::kDatabaseLittle4, 0, "", 1},
    {Rule::kTreeSize, examples::kDatabaseLittle4, 0, "", -1},
    {Rule::kTreeSize, examples::kDatabaseLittle4, 0, "", -240},
    {Rule::kTreePage, examples::kDatabaseLittle4, 0x18, "05"},
    {Rule::kTreePage, examples::kDatabaseLittle4, 0x18, "02"},
    {Rule::kTreePage, examples::kDatabaseLittle4, 0x18, "feffffff"},
    {Rule::kTreeUse, examples::kDatabaseLittle4, 0x10, "05"},
    {Rule::kTreeRoot, examples::kDatabaseLittle4, 0x14, "03"},
    {Rule::kTreeRoot, examples::kDatabaseLittle4, 0x14, "ffffffff"},
    {Rule::kTreeLink, examples::kDatabaseLittle4, 0xA0, "03"},
    {Rule::kTreeTwice, examples::kDatabaseLittle4, 0xA4, "00"},
    {Rule::kTreeTwice, examples::kDatabaseLittle4, 0xA0, "02"},
    {Rule::kTreeLost, examples::kDatabaseLittle4, 0x10, "04"},
    {Rule::kTreeCount, examples::kDatabaseLittle4, 0x2C, "01"},
    {Rule::kTreeCount, examples::kDatabaseLittle4, 0x2C, "05"},
    {Rule::kTreeOrder, examples::kDatabaseLittle4, 0x3C, "20"},
    {Rule::kTreeDepth, examples::kDatabaseLittle4, 0xA4, "ffffffff"},
    {Rule::kTreeUnused, examples::kDatabaseLittle4, 0x50, "01"},
    {Rule::kTreeUnused, examples::kDatabaseLittle4, 0xD8, "00"},
};

Bytes damaged(const Damage& damage) {
  Bytes bytes = from_hex(damage.example);
  const Bytes put = from_hex(damage.bytes);
  std::copy(put.begin(), put.end(), bytes.begin() + static_cast<std::ptrdiff_t>(damage.at));
  bytes.resize(bytes.size() + static_cast<std::size_t>(damage.longer));
  return bytes;
}

TEST(OprofileReader, ReportsEachBrokenRule) {
  std::set<Rule> tried = {Rule::kFileRead};
  for (const Damage& damage : kDamages) {
    const File file = read(damaged(damage));
    tried.insert(damage.rule);
    ASSERT_FALSE(file.violations.empty()) << name(damage.rule) << " at " << damage.at;
    EXPECT_EQ(name(file.violations[0].rule), std::string(name(damage.rule))) << describe(file.violations);
  }
  EXPECT_EQ(read_file("/nowhere/at/all").violations.at(0).rule, Rule::kFileRead);
#define RULE(id, name, consequence) EXPECT_TRUE(tried.count(Rule::id)) << name;
#include "tests/readers/oprofile/rules.def"
#undef RULE
}

TEST(OprofileReader, AcceptsOfAKilledProcessWhatCouldNotBeFinished) {
  constexpr Damage kUnfinished[] = {
      {Rule::kNoteTorn, examples::kNotesLittle4, 0, "", -1},
      {Rule::kBufferTorn, examples::kSamplesLittle4, 0, "", -1},
      {Rule::kTreeSize, examples::kDatabaseLittle4, 0, "", 1},
      {Rule::kTreeLost, examples::kDatabaseLittle4, 0x10, "04"},
      {Rule::kTreeUnused, examples::kDatabaseLittle4, 0x50, "01"},
  };
  for (const Damage& damage : kUnfinished) {
    const Bytes bytes = damaged(damage);
    EXPECT_EQ(describe(read(bytes, {.was_killed = true}).violations), "");
  }
  const Bytes order = damaged({Rule::kTreeOrder, examples::kDatabaseLittle4, 0x3C, "20"});
  EXPECT_FALSE(read(order, {.was_killed = true}).violations.empty());
}

// With a sanitizer that is what it looks for.
TEST(OprofileReader, StaysInsideOfDamagedFiles) {
  for (const auto spelled : {examples::kNotesLittle4, examples::kSamplesMixed5, examples::kHashMapLittle4,
                             examples::kDatabaseLittle4, examples::kEmptyDatabaseLittle2}) {
    const Bytes whole = from_hex(spelled);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      (void)read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
      for (const int value : {0x00, 0x01, 0x03, 0x7F, 0x80, 0xFF}) {
        Bytes changed = whole;
        changed[i] = static_cast<std::uint8_t>(value);
        (void)read(changed);
      }
    }
  }
}

}  // namespace
}  // namespace oprofile_reader
