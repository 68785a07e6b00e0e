// What the reader that shares nothing with the writer finds in files of every width and many orders of bytes,
// and what the writer refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/reader.hpp"
#include "writer/oprofile/database.hpp"
#include "writer/oprofile/hash_map.hpp"
#include "writer/oprofile/header.hpp"
#include "writer/oprofile/streams.hpp"

namespace jitquill::oprofile {
namespace {

using oprofile_reader::File;
using oprofile_reader::read;

// Five orders of each width from 2 to 8, and of 16.
std::vector<Words> all_words() {
  std::vector<Words> all;
  std::mt19937 random(1);
  for (const std::size_t width : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u}) {
    all.push_back(Words::little_endian(width));
    all.push_back(Words::big_endian(width));
    std::vector<std::uint8_t> order(width);
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::rotate(order.begin(), order.begin() + 1, order.end());
    for (int i = 0; i < 3; ++i) {
      all.push_back(*Words::in_order(order));
      std::ranges::shuffle(order, random);
    }
  }
  return all;
}

std::string name_of(const Words& words) {
  std::string text = std::to_string(words.width()) + " bytes:";
  for (const std::uint8_t place : words.order()) text += ' ' + std::to_string(place);
  return text;
}

File read_clean(std::span<const std::uint8_t> bytes, const Words& words) {
  File file = read(bytes);
  EXPECT_EQ(describe(file.violations), "") << name_of(words);
  EXPECT_TRUE(std::ranges::equal(file.order, words.order()));
  return file;
}

TEST(OprofileWords, AreReadBackAsTheyWerePut) {
  for (const Words& words : all_words()) {
    std::uint8_t bytes[32] = {};
    for (Number number :
         {Number{0}, Number{1}, Number{0x1234}, words.nil() - 1, words.nil(), words.nil() / 3}) {
      words.store(bytes, number);
      EXPECT_EQ(words.load(bytes), number) << name_of(words);
    }
  }
}

TEST(OprofileWords, AreStoredAtOnceBesideOthers) {
  for (const Words& words : all_words()) {
    std::vector<std::uint8_t> room(16 + 3 * words.width(), 0xA5), expected = room;
    words.store(expected.data() + 16 + words.width(), words.nil() / 5);
    words.store_at_once(room.data() + 16 + words.width(), words.nil() / 5);
    EXPECT_EQ(room, expected) << name_of(words);
  }
}

TEST(OprofileWords, AreInAPermutation) {
  using Order = std::vector<std::uint8_t>;
  for (const Order& wrong :
       {Order{}, Order{1}, Order{0, 0}, Order{0, 2}, Order{0, 1, 1, 3}, Order{0, 1, 2, 255}})
    EXPECT_FALSE(Words::in_order(wrong));
  Order longest(Words::kMostWidth + 1);
  std::iota(longest.begin(), longest.end(), std::uint8_t{0});
  EXPECT_FALSE(Words::in_order(longest));
  longest.pop_back();
  EXPECT_TRUE(Words::in_order(longest));
}

TEST(OprofileStreams, AreReadInEachWidthAndOrder) {
  for (const Words& words : all_words()) {
    Bytes notes, samples;
    put_header(Kind::kNotes, words, notes);
    const Mapping mapping{.address = 0x7001, .length = 2, .offset = 3, .path = 4, .pid = 5};
    EXPECT_EQ(put_exec(words, mapping, notes), Status::kOk);
    EXPECT_EQ(put_map(words, {.address = 9, .length = 8, .pid = 5}, notes), Status::kOk);
    EXPECT_EQ(put_fork(words, 5, 6, notes), Status::kOk);
    EXPECT_EQ(put_drop_modules(words, notes), Status::kOk);
    EXPECT_EQ(put_exit(words, 6, notes), Status::kOk);
    const File read_notes = read_clean(notes.view(), words);
    ASSERT_EQ(read_notes.notes.size(), 5u);
    EXPECT_EQ(read_notes.notes[0].address, 0x7001u);
    EXPECT_EQ(read_notes.notes[0].path, 4u);
    EXPECT_FALSE(read_notes.notes[1].path);
    EXPECT_EQ(read_notes.notes[2].address, 6u);
    put_header(Kind::kSamples, words, samples);
    const Sample sample{.address = 0xFFF0, .count = 7, .counter = 1, .pid = 5};
    EXPECT_EQ(put_buffer(words, 3, ProfilerState::kStopped, {&sample, 1}, samples), Status::kOk);
    const File read_samples = read_clean(samples.view(), words);
    ASSERT_EQ(read_samples.buffers.size(), 1u);
    EXPECT_EQ(read_samples.buffers[0].cpu, 3u);
    EXPECT_EQ(read_samples.buffers[0].samples.at(0).address, 0xFFF0u);
    EXPECT_EQ(read_samples.buffers[0].samples.at(0).count, 7u);
  }
}

TEST(OprofileStreams, RefuseWhatDoesNotFitAndPutNothing) {
  const Words words = Words::little_endian(4);
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 32;
  Bytes out;
  out.u8(1);
  for (const Mapping& mapping :
       {Mapping{.address = kTooLarge}, Mapping{.length = kTooLarge}, Mapping{.offset = kTooLarge},
        Mapping{.path = kTooLarge}, Mapping{.path = kTooLarge - 1}, Mapping{.pid = kTooLarge}})
    EXPECT_EQ(put_map(words, mapping, out), Status::kTooLarge);
  EXPECT_EQ(put_fork(words, 1, kTooLarge, out), Status::kTooLarge);
  for (const Sample& sample : {Sample{.address = kTooLarge}, Sample{.count = kTooLarge},
                               Sample{.counter = kTooLarge}, Sample{.pid = kTooLarge}}) {
    const Sample both[] = {Sample{}, sample};
    EXPECT_EQ(put_buffer(words, 0, ProfilerState::kRunning, both, out), Status::kTooLarge);
  }
  const Sample never{.count = 0};
  EXPECT_EQ(put_buffer(words, 0, ProfilerState::kRunning, {&never, 1}, out), Status::kBadArgument);
  EXPECT_EQ(put_buffer(words, kTooLarge, ProfilerState::kRunning, {}, out), Status::kTooLarge);
  EXPECT_EQ(out.size(), 1u);
}

TEST(OprofileHashMap, PlacesAsIn2002) {
  struct Vector {
    const char* component;
    std::uint32_t hash;
    std::uint32_t slot;
  };
  constexpr Vector kVectors[] = {{"tmp", 0x281498, 3099}, {"jit", 0x293c2d, 1001},
                                 {"a", 0x42f2, 766},      {"usr", 0x28e981, 302},
                                 {"lib", 0x235efa, 1436}, {"libc.so.6", 0xb2f2069a, 2629}};
  HashMap map;
  ASSERT_EQ(map.make(HashMap::kSizeOf2002, HashMap::kPoolOf2002), Status::kOk);
  for (const Vector& row : kVectors) {
    EXPECT_EQ(component_hash(row.component), row.hash) << row.component;
    EXPECT_EQ(map.add(HashMap::kRoot, row.component).index, row.slot) << row.component;
  }
  EXPECT_EQ(map.add(3099, "jit").index, 2031u);
  EXPECT_EQ(map.add(3099, "usr").index, 3396u);
  const Words words = Words::little_endian(4);
  Bytes out;
  EXPECT_EQ(map.put(words, out), Status::kOk);
  EXPECT_EQ(out.size() - header_size(words) - 2 * words.width(), 98'280u);
  EXPECT_EQ(read_clean(out.view(), words).paths.at(2031), "/tmp/jit");
}

TEST(OprofileHashMap, IsReadInEachWidthAndOrder) {
  HashMap map;
  ASSERT_EQ(map.make(101), Status::kOk);
  std::map<std::uint64_t, std::string> paths;
  for (int i = 0; i < 60; ++i) {
    const std::string path = "/jit/" + std::to_string(i % 7) + "/\xE9" + std::to_string(i);
    paths[map.add_path(path).index] = path;
    EXPECT_EQ(map.add_path(path).index, map.add_path("//" + path + "/").index);
  }
  for (const Words& words : all_words()) {
    Bytes out;
    EXPECT_EQ(map.put(words, out), Status::kOk);
    const File file = read_clean(out.view(), words);
    EXPECT_EQ(file.paths.size() + 1, map.used());
    for (const auto& [index, path] : paths) EXPECT_EQ(file.paths.at(index), path);
  }
}

TEST(OprofileHashMap, TakesEveryEntryButTheRoots) {
  HashMap map;
  ASSERT_EQ(map.make(31), Status::kOk);
  std::set<std::uint32_t> indexes;
  for (int i = 0; i < 30; ++i) {
    const HashMap::Index index = map.add(HashMap::kRoot, "f" + std::to_string(i));
    EXPECT_EQ(index.status, Status::kOk);
    indexes.insert(index.index);
  }
  EXPECT_EQ(indexes.size(), 30u);
  EXPECT_EQ(indexes.count(HashMap::kRoot), 0u);
  EXPECT_EQ(map.add(HashMap::kRoot, "more").status, Status::kFull);
  EXPECT_EQ(map.add(HashMap::kRoot, "f7").status, Status::kOk);
}

TEST(OprofileHashMap, RefusesWhatItCannotHold) {
  HashMap map;
  for (const std::uint32_t wrong : {0u, 1u, 4u, 4095u, 0xFFFFFFFBu})
    EXPECT_EQ(map.make(wrong), Status::kBadArgument);
  ASSERT_EQ(map.make(11, 10), Status::kOk);
  EXPECT_EQ(map.add(HashMap::kRoot, "").status, Status::kBadArgument);
  EXPECT_EQ(map.add(HashMap::kRoot, std::string_view("\0a", 2)).status, Status::kBadArgument);
  EXPECT_EQ(map.add(5, "a").status, Status::kBadArgument);   // nothing is there
  EXPECT_EQ(map.add(11, "a").status, Status::kBadArgument);  // nor can be
  EXPECT_EQ(map.add_path("///").index, HashMap::kRoot);
  EXPECT_EQ(map.add(HashMap::kRoot, "12345678").status, Status::kFull);
  EXPECT_EQ(map.add(HashMap::kRoot, "1234567").status, Status::kOk);
  EXPECT_EQ(map.add(HashMap::kRoot, "x").status, Status::kFull);
  EXPECT_EQ(prime_from(4090), 4091u);
  EXPECT_EQ(prime_from(0), 2u);
  Bytes out;
  ASSERT_EQ(map.make(257), Status::kOk);
  EXPECT_EQ(map.put(Words::little_endian(1), out), Status::kTooLarge);
  EXPECT_EQ(out.size(), 0u);
}

TEST(OprofileHashMap, PutsSlashesAnotherWay) {
  HashMap map;
  ASSERT_EQ(map.make(11), Status::kOk);
  const std::uint32_t index = map.add(HashMap::kRoot, std::string_view("java/lang/Object\0x", 18)).index;
  Bytes out;
  EXPECT_EQ(map.put(Words(), out), Status::kOk);
  EXPECT_EQ(read_clean(out.view(), Words()).paths.at(index), "/java\xE2\x88\x95lang\xE2\x88\x95Object");
}

TEST(OprofileDatabase, IsReadInEachWidthAndOrder) {
  for (const Words& words : all_words()) {
    const tests::DatabaseFile file;
    Database base;
    ASSERT_EQ(base.make(file.handle(), {.words = words, .page_entries = 6, .pages = 1}), Status::kOk);
    std::map<std::uint64_t, std::uint64_t> counts;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t key = i * 7919 % 331;
      counts[key] += i + 1;
      EXPECT_EQ(base.add(key, i + 1), Status::kOk);
    }
    EXPECT_EQ(base.close(), Status::kOk);
    const File whole = read_clean(file.bytes(), words);
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected(counts.begin(), counts.end());
    EXPECT_EQ(whole.database.counts, expected) << name_of(words);
  }
}

}  // namespace
}  // namespace jitquill::oprofile
