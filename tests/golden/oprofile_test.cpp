// The bytes of the OProfile ABI's files, as the worked examples of its specification have them.
#include <gtest/gtest.h>

#include "tests/hex.hpp"
#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/examples.hpp"
#include "writer/oprofile/database.hpp"
#include "writer/oprofile/hash_map.hpp"
#include "writer/oprofile/header.hpp"
#include "writer/oprofile/streams.hpp"

namespace jitquill::oprofile {
namespace {

namespace examples = oprofile_reader::examples;
using tests::from_hex;
using tests::to_hex;

Words mixed() {
  constexpr std::uint8_t kOrder[] = {3, 4, 2, 0, 1};
  return *Words::in_order(kOrder);
}

void expect_bytes(std::span<const std::uint8_t> put, std::string_view spelled) {
  EXPECT_EQ(to_hex(put), to_hex(from_hex(spelled)));
}

void put_notes(const Words& words, Bytes& out) {
  put_header(Kind::kNotes, words, out);
  EXPECT_EQ(put_map(words, {.address = 0x12345000, .length = 0x40, .path = 6, .pid = 0x1234}, out),
            Status::kOk);
  EXPECT_EQ(put_exit(words, 0x1234, out), Status::kOk);
}

void put_samples(const Words& words, Bytes& out) {
  constexpr Sample kSamples[] = {{.address = 0x12345010, .count = 3, .pid = 0x1234},
                                 {.address = 0x12345024, .pid = 0x1234}};
  put_header(Kind::kSamples, words, out);
  EXPECT_EQ(put_buffer(words, 1, ProfilerState::kRunning, kSamples, out), Status::kOk);
  EXPECT_EQ(put_buffer(words, 0, ProfilerState::kStopping, {}, out), Status::kOk);
}

TEST(OprofileNotes, AreTheseBytes) {
  Bytes little, big, odd;
  put_notes(Words::little_endian(4), little);
  put_notes(Words::big_endian(8), big);
  put_notes(mixed(), odd);
  expect_bytes(little.view(), examples::kNotesLittle4);
  expect_bytes(big.view(), examples::kNotesBig8);
  expect_bytes(odd.view(), examples::kNotesMixed5);
}

TEST(OprofileNotes, HaveOneTypeEach) {
  const Words words = Words::little_endian(2);
  const Mapping mapping{.address = 1, .length = 2, .offset = 3, .path = 4, .pid = 5};
  Bytes out;
  EXPECT_EQ(put_exec(words, mapping, out), Status::kOk);
  EXPECT_EQ(put_fork(words, 5, 6, out), Status::kOk);
  EXPECT_EQ(put_drop_modules(words, out), Status::kOk);
  EXPECT_EQ(put_map(words, {.address = 1, .length = 2, .pid = 5}, out), Status::kOk);
  expect_bytes(out.view(), R"(
    0100 0200 0300 0400 0500 0400    # exec
    0600 0000 0000 0000 0500 0100    # fork: the child is in the address
    0000 0000 0000 0000 0000 0800    # drop modules
    0100 0200 0000 ffff 0500 0200)");  // map, of a path that is not known
}

TEST(OprofileSamples, AreTheseBytes) {
  Bytes little, big, odd;
  put_samples(Words::little_endian(4), little);
  put_samples(Words::big_endian(8), big);
  put_samples(mixed(), odd);
  expect_bytes(little.view(), examples::kSamplesLittle4);
  EXPECT_EQ(big.size(), 128u);
  expect_bytes(odd.view(), examples::kSamplesMixed5);
}

TEST(OprofileHashMap, IsTheseBytes) {
  HashMap map;
  ASSERT_EQ(map.make(11), Status::kOk);
  EXPECT_EQ(map.add_path("/tmp/jit/a").index, 6u);
  EXPECT_EQ(map.add_path("/tmp/jit/b").index, 7u);
  EXPECT_EQ(map.add_path("/tmp").index, 1u);
  EXPECT_EQ(map.add_path("/tmp/jit").index, 10u);
  Bytes out;
  EXPECT_EQ(map.put(Words::little_endian(4), out), Status::kOk);
  expect_bytes(out.view(), examples::kHashMapLittle4);
}

TEST(OprofileDatabase, IsTheseBytes) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(4), .page_entries = 4, .pages = 4}),
            Status::kOk);
  for (const std::uint64_t key : {1u, 2u, 3u, 4u, 5u}) EXPECT_EQ(base.add(0x10 * key, key), Status::kOk);
  EXPECT_EQ(base.add(0x10, 9), Status::kOk);
  EXPECT_EQ(base.close(), Status::kOk);
  expect_bytes(file.bytes(), examples::kDatabaseLittle4);
}

TEST(OprofileDatabase, IsTheseBytesWithoutACount) {
  const tests::DatabaseFile file;
  Database base;
  ASSERT_EQ(base.make(file.handle(), {.words = Words::little_endian(2), .page_entries = 4, .pages = 1}),
            Status::kOk);
  EXPECT_EQ(base.close(), Status::kOk);
  expect_bytes(file.bytes(), examples::kEmptyDatabaseLittle2);
}

}  // namespace
}  // namespace jitquill::oprofile
