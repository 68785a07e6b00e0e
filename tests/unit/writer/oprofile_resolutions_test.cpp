// Where the draft of the OProfile ABI is silent or contradicts itself: each of the 26 resolutions that its
// specification lists, by what our files have there.
#include <gtest/gtest.h>

#include <set>

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
using Put = Status (*)(const Words&, Bytes&);
using Counts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

const Mapping kMapping{.address = 0x10, .length = 0x20, .offset = 0x30, .path = 6, .pid = 7};

std::vector<std::uint8_t> file_of(Kind kind, const Words& words, Put put) {
  Bytes out;
  put_header(kind, words, out);
  EXPECT_EQ(put(words, out), Status::kOk);
  return {out.view().begin(), out.view().end()};
}

File notes(Put put) {
  return read(file_of(Kind::kNotes, Words(), put));
}

File samples(std::vector<Sample> of, ProfilerState state = ProfilerState::kRunning) {
  Bytes out;
  put_header(Kind::kSamples, Words(), out);
  EXPECT_EQ(put_buffer(Words(), 3, state, of, out), Status::kOk);
  return read(out.view());
}

std::vector<std::uint8_t> map_bytes() {
  HashMap map;
  EXPECT_EQ(map.make(11), Status::kOk);
  EXPECT_EQ(map.add_path("/tmp/jit/a").index, 6u);
  Bytes out;
  EXPECT_EQ(map.put(Words(), out), Status::kOk);
  return {out.view().begin(), out.view().end()};
}

std::vector<std::uint8_t> tree_bytes(const Counts& counts, const Database::Shape& shape = {}) {
  const tests::DatabaseFile file;
  Database base;
  EXPECT_EQ(base.make(file.handle(), shape), Status::kOk);
  for (const auto& [key, count] : counts) EXPECT_EQ(base.add(key, count), Status::kOk);
  EXPECT_EQ(base.close(), Status::kOk);
  return file.bytes();
}

const Counts kFive = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};
const Database::Shape kSmall{.words = Words(), .page_entries = 4, .pages = 4};

std::uint64_t word(const std::vector<std::uint8_t>& bytes, std::size_t i) {
  return static_cast<std::uint64_t>(Words().load(bytes.data() + header_size(Words()) + 8 * i));
}

struct Resolution {
  int number;
  const char* name;
  void (*look)();
};

const Resolution kOfAllFiles[] = {
    {1, "version 1.0",
     [] {
       const File file = read(map_bytes());
       EXPECT_EQ(file.major, 1);
       EXPECT_EQ(file.minor, 0);
     }},
    {2, "words have 1 to 255 bytes; ours 1 to 16",
     [] {
       EXPECT_FALSE(Words::in_order({}));
       EXPECT_EQ(tree_bytes({}, {.words = Words::little_endian(16)})[6], 16);
     }},
    {3, "the order of bytes is a permutation",
     [] {
       constexpr std::uint8_t kTwice[] = {0, 0};
       EXPECT_FALSE(Words::in_order(kTwice));
     }},
    {4, "numbers are wide enough for their words",
     [] {
       const Words words = Words::big_endian(16);
       std::uint8_t bytes[16];
       words.store(bytes, words.nil() - 5);
       EXPECT_EQ(words.load(bytes), words.nil() - 5);
     }},
    {5, "unsigned; NIL is all ones in the file's width",
     [] {
       EXPECT_EQ(Words::little_endian(4).nil(), Number{0xFFFFFFFF});
       EXPECT_EQ(Words().nil(), Number{~std::uint64_t{0}});
       EXPECT_EQ(read(tree_bytes({{~std::uint64_t{0}, 2}})).database.counts[0].first, ~std::uint64_t{0});
     }},
    {6, "reserved is 0",
     [] {
       const auto bytes = tree_bytes(kFive, kSmall);
       EXPECT_EQ(bytes[7], 0);
       for (const std::size_t i : {4u, 5u, 6u, 7u}) EXPECT_EQ(word(bytes, i), 0u);
     }},
    {23, "streams end with their file; a torn tail is not theirs",
     [] {
       auto bytes =
           file_of(Kind::kNotes, Words(), [](auto& words, auto& out) { return put_exit(words, 1, out); });
       bytes.push_back(0);
       EXPECT_EQ(read(bytes, {.was_killed = true}).notes.size(), 1u);
     }},
    {24, "all four kinds have the header",
     [] {
       for (const Kind kind : {Kind::kNotes, Kind::kSamples, Kind::kHashMap, Kind::kDatabase}) {
         Bytes out;
         put_header(kind, Words(), out);
         EXPECT_EQ(out.size(), 16u);
         EXPECT_EQ(out.view()[0], 'o');
       }
     }},
    {26, "what does not fit is refused",
     [] {
       Bytes out;
       EXPECT_EQ(put_exit(Words::little_endian(2), 0x10000, out), Status::kTooLarge);
       EXPECT_EQ(out.size(), 0u);
     }},
};

const Resolution kOfStreams[] = {
    {7, "the hash of a path is its index",
     [] {
       const File file = notes([](auto& words, auto& out) { return put_map(words, kMapping, out); });
       EXPECT_EQ(file.notes[0].path, 6u);
       EXPECT_EQ(read(map_bytes()).paths.at(6), "/tmp/jit/a");
     }},
    {9, "types of notes are 1, 2, 4, 8, 16",
     [] {
       const File file = notes([](auto& words, auto& out) {
         const Status all[] = {put_fork(words, 1, 2, out), put_map(words, kMapping, out),
                               put_exec(words, kMapping, out), put_drop_modules(words, out),
                               put_exit(words, 1, out)};
         return all[4];
       });
       for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(file.notes.at(i).type, 1u << i);
     }},
    {10, "a fork's child is in the address",
     [] {
       const File file = notes([](auto& words, auto& out) { return put_fork(words, 7, 8, out); });
       EXPECT_EQ(file.notes[0].address, 8u);
       EXPECT_EQ(file.notes[0].pid, 7u);
     }},
    {11, "states are 0, 1, 2",
     [] {
       EXPECT_EQ(samples({}, ProfilerState::kStopped).buffers[0].state, 0u);
       EXPECT_EQ(samples({}, ProfilerState::kStopping).buffers[0].state, 1u);
       EXPECT_EQ(samples({}, ProfilerState::kRunning).buffers[0].state, 2u);
     }},
    {12, "a buffer counts its samples, a sample its hits",
     [] {
       const File file = samples({{.address = 1, .count = 5}, {.address = 2, .count = 6}});
       EXPECT_EQ(file.buffers[0].samples.size(), 2u);
       EXPECT_EQ(file.buffers[0].samples[1].count, 6u);
     }},
    {25, "unload and move are mappings",
     [] {
       const File file = notes([](auto& words, auto& out) {
         const Status moved = put_map(words, {.address = 9, .length = 1, .offset = 3, .path = 6}, out);
         return moved == Status::kOk ? put_map(words, {.address = 9, .length = 1, .path = kNoPath}, out)
                                     : moved;
       });
       EXPECT_EQ(file.notes[0].type, 2u);
       EXPECT_EQ(file.notes[1].path, 0u);
       EXPECT_EQ(describe(file.violations), "");
     }},
};

const Resolution kOfHashMaps[] = {
    {8, "hashed as in 2002", [] { EXPECT_EQ(component_hash("libc.so.6"), 0xb2f2069au); }},
    {13, "entries are 0 to size - 1",
     [] {
       EXPECT_EQ(map_bytes().size(), header_size(Words()) + 2 * 8 + 11 * 2 * 8 + sizeof "/\0tmp\0jit\0a");
     }},
    {14, "root (0, 0), empty (0, NIL), ends at 0",
     [] {
       const auto bytes = map_bytes();
       EXPECT_EQ(word(bytes, 2), 0u);
       EXPECT_EQ(word(bytes, 3), 0u);
       EXPECT_EQ(word(bytes, 2 + 2 * 3), 0u);
       EXPECT_EQ(word(bytes, 3 + 2 * 3), ~std::uint64_t{0});
       EXPECT_EQ(word(bytes, 3 + 2 * 1), 0u);
     }},
    {15, "sizes are entries and bytes",
     [] {
       EXPECT_EQ(word(map_bytes(), 0), 11u);
       EXPECT_EQ(word(map_bytes(), 1), sizeof "/\0tmp\0jit\0a");
     }},
};

const Resolution kOfDatabases[] = {
    {16, "sizes are pages",
     [] {
       const auto bytes = tree_bytes(kFive, kSmall);
       EXPECT_EQ(word(bytes, 0), 4u);
       EXPECT_EQ(word(bytes, 1), 3u);
       EXPECT_EQ(bytes.size(), header_size(Words()) + 8 * (8 + 4 * (3 * 4 + 2)));
     }},
    {17, "pages count from 0, none is NIL",
     [] {
       EXPECT_EQ(word(tree_bytes({}), 2), ~std::uint64_t{0});
       EXPECT_EQ(word(tree_bytes({{1, 1}}), 2), 0u);
     }},
    {18, "left is below the first entry, right above its own",
     [] {
       const auto bytes = tree_bytes(kFive, kSmall);
       const std::size_t root = 8 + word(bytes, 2) * 14;
       EXPECT_EQ(word(bytes, root + 1), 0u);
       EXPECT_EQ(word(bytes, root + 2), 1u);
       EXPECT_EQ(word(bytes, root + 4), 3u);  // the key
     }},
    {19, "keys ascend; equal ones add, and stay at the greatest",
     [] {
       const Database::Shape shape{.words = Words::little_endian(2)};
       const Counts put = {{0xFFFF, 1}, {3, 2}, {3, 4}, {7, 0xFFFE}, {7, 9}};
       EXPECT_EQ(read(tree_bytes(put, shape)).database.counts, (Counts{{3, 6}, {7, 0xFFFF}, {0xFFFF, 1}}));
     }},
    {20, "a key is a number: its meaning is the caller's",
     [] {
       EXPECT_EQ(read(tree_bytes({{0, 1}, {~std::uint64_t{0}, 1}})).database.counts.size(), 2u);
     }},
    {21, "pages have 12 entries, or an even number from 4 on",
     [] {
       EXPECT_EQ(word(tree_bytes({}), 3), 12u);
       EXPECT_EQ(word(tree_bytes({}, kSmall), 3), 4u);
       EXPECT_EQ(Database().make(-1, {.words = Words(), .page_entries = 3}), Status::kBadArgument);
     }},
    {22, "what is unused is (NIL, 0, 0)",
     [] {
       const auto bytes = tree_bytes({{9, 1}}, kSmall);
       for (const std::size_t entry : {8u + 2 + 3, 8u + 14 + 2}) {
         EXPECT_EQ(word(bytes, entry), ~std::uint64_t{0});
         EXPECT_EQ(word(bytes, entry + 1), 0u);
         EXPECT_EQ(word(bytes, entry + 2), 0u);
       }
     }},
};

TEST(OprofileResolutions, AreAllKept) {
  std::set<int> looked_at;
  const std::span<const Resolution> all[] = {kOfAllFiles, kOfStreams, kOfHashMaps, kOfDatabases};
  for (const auto& resolutions : all) {
    for (const Resolution& resolution : resolutions) {
      SCOPED_TRACE(std::to_string(resolution.number) + ": " + resolution.name);
      resolution.look();
      EXPECT_TRUE(looked_at.insert(resolution.number).second);
    }
  }
  EXPECT_EQ(looked_at.size(), 26u);
  EXPECT_EQ(*looked_at.rbegin(), 26);
}

}  // namespace
}  // namespace jitquill::oprofile
