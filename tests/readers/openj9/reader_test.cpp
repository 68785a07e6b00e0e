// The strict reader prints traces as OpenJ9's formatter printed them, and reports each broken rule at its
// place.
#include "tests/readers/openj9/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/readers/openj9/made.hpp"
#include "tests/readers/openj9/text.hpp"

namespace openj9_reader {
namespace {

using made::entry;
using made::number;
using made::patch;

std::string file_text(const std::string& name) {
  std::ifstream stream(std::string(JITQUILL_SAMPLES "/") + name, std::ios::binary);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), {}};
}

Catalogue sample_templates() {
  Catalogue catalogue;
  add_templates(file_text("sample.dat"), catalogue);
  add_templates(file_text("dg.dat"), catalogue);
  EXPECT_EQ(describe(catalogue.violations), "");
  return catalogue;
}

class OpenJ9ReaderSample : public testing::TestWithParam<const char*> {};

// What the formatter wrote with -indent, to the byte.
TEST_P(OpenJ9ReaderSample, IsPrintedAsTheFormatterPrintsIt) {
  const File file = read(file_text(std::string(GetParam()) + ".trc"));
  EXPECT_EQ(describe(file.violations), "");
  const Text text = text_of(file, sample_templates());
  EXPECT_EQ(describe(text.violations), "");
  EXPECT_EQ(text.text, file_text(std::string(GetParam()) + ".fmt"));
}

INSTANTIATE_TEST_SUITE_P(All, OpenJ9ReaderSample, testing::Values("sample", "big64", "long"),
                         [](const auto& sample) { return std::string(sample.param); });

constexpr std::size_t kHeaderSize = 304, kRecordSize = 2048, kTypeAt = 80;
constexpr std::uint64_t kStart = 5'000'000'000, kTicksPerMs = 1'000'000;
constexpr std::uint64_t kStartMs = 0x19B7CA98C88;

std::string header() {
  return file_text("sample.trc").substr(0, kHeaderSize);
}

made::Record record(std::uint64_t newest, std::string entries) {
  made::Record made{newest, kStart, {}, {}, 0x1000, "main", std::move(entries)};
  const std::uint64_t ms = (newest - kStart) / kTicksPerMs + 1;
  made.written_ticks = kStart + ms * kTicksPerMs;
  made.written_ms = kStartMs + ms;
  return made;
}

File file_with(const made::Record& record) {
  return read(header() + record.bytes(kRecordSize));
}

TEST(OpenJ9Reader, MakesTheClockAgainFromItsLowerWords) {
  const std::uint64_t wraps = 3ULL << 32;
  const File file = file_with(record(wraps + 5, entry(257, (2ULL << 32) - 1, "jq") + made::wrap(1) +
                                                    entry(258, (2ULL << 32) + 7, "jq") + made::wrap(2) +
                                                    entry(259, wraps, "jq") + entry(260, wraps + 5, "jq")));
  EXPECT_EQ(describe(file.violations), "");
  ASSERT_EQ(file.entries.size(), 4u);
  EXPECT_EQ(file.entries[0].ticks, (2ULL << 32) - 1);
  EXPECT_EQ(file.entries[1].ticks, (2ULL << 32) + 7);
  EXPECT_EQ(file.entries[2].ticks, wraps);
  EXPECT_EQ(file.entries[3].number, 3);
}

TEST(OpenJ9Reader, ReadsARingFromItsOldestWholeEntryOn) {
  std::string all;
  for (unsigned i = 0; i < 300; ++i) all += entry(257 + i, kStart + i, "jq", number(i, 4));
  made::Record ring = record(kStart + 299, {});
  std::string bytes = ring.bytes(kRecordSize);
  const std::size_t first = 64 + ring.name.size() + 1, room = kRecordSize - first;
  for (std::size_t i = 0; i < all.size(); ++i)
    bytes[first + 1 + i < kRecordSize ? first + 1 + i : first + (1 + i) % room] = all[i];
  patch(bytes, 60, number(first + all.size() % room, 4));
  std::string head = header();
  patch(head, kTypeAt, number(0, 4));
  const File file = read(head + bytes);
  EXPECT_EQ(describe(file.violations), "");
  ASSERT_GT(file.entries.size(), room / 18 - 2);
  for (std::size_t i = 0; i < file.entries.size(); ++i)
    EXPECT_EQ(file.entries[i].number, static_cast<int>(300 - file.entries.size() + i));
}

TEST(OpenJ9Reader, TellsOfLostRecordsAndInternalEntries) {
  const File file = file_with(
      record(kStart + 9, made::lost(3) + entry(259, kStart + 1, "INTERNALTRACECOMPONENT", number(0x77, 8)) +
                             entry(257, kStart + 8, "jq(libjit)") +
                             entry(262, kStart + 9, "INTERNALTRACECOMPONENT")));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.records.at(0).lost, 3u);
  const Text text = text_of(file, sample_templates());
  EXPECT_NE(text.text.find("dg.259              Debug       context 0x77\n"), text.text.npos) << text.text;
  EXPECT_NE(text.text.find("jq(libjit).0        AppTrace  raw parameter data []"), text.text.npos)
      << text.text;
}

// Threads' entries by time; of equal times that of the thread that was printed last.
TEST(OpenJ9Reader, MergesThreadsAsTheFormatterDoes) {
  made::Record first = record(
      kStart + 9, entry(257, kStart + 1, "a") + entry(257, kStart + 5, "a") + entry(257, kStart + 9, "a"));
  made::Record second = record(kStart + 9, entry(257, kStart + 5, "b") + entry(257, kStart + 6, "b"));
  second.thread = 0x2000;
  second.newest_ticks = kStart + 6;
  const File file = read(header() + first.bytes(kRecordSize) + second.bytes(kRecordSize));
  EXPECT_EQ(describe(file.violations), "");
  std::string order;
  for (const Entry& entry : file.entries) order += entry.component;
  EXPECT_EQ(order, "aabba");
}

struct Broken {
  const char* rule;
  std::function<std::string()> file;
};

std::string with(made::Record made, std::uint64_t at, std::string_view bytes) {
  std::string file = header() + made.bytes(kRecordSize);
  if (!bytes.empty()) patch(file, at, bytes);
  return file;
}
made::Record good() {
  return record(kStart + 2, entry(257, kStart + 1, "jq") + entry(257, kStart + 2, "jq"));
}
std::string of_entries(std::uint64_t newest, std::string entries) {
  return with(record(newest, std::move(entries)), 0, {});
}
constexpr std::size_t kFirst = kHeaderSize + 64 + 5;

const Broken kBroken[] = {
    {"header", [] { return with(good(), 0, "X"); }},
    {"header", [] { return with(good(), 20, number(1, 4)); }},
    {"header", [] { return with(good(), 24, number(0, 4)); }},
    {"header", [] { return with(good(), 16, number(128, 4)); }},
    {"header", [] { return with(good(), 0xE0 + 32, number(9, 4)); }},
    {"scale", [] { return with(good(), 0x40, number(0, 8)); }},
    {"scale", [] { return with(good(), kHeaderSize + 24, number(kStartMs, 8)); }},
    {"scale",
     [] {
       return with(good(), kHeaderSize + 16, number(kStart + kTicksPerMs / 4, 8)) + good().bytes(kRecordSize);
     }},
    {"file-size", [] { return with(good(), 0, {}) + "12345"; }},
    {"record", [] { return with(good(), kHeaderSize + 56, number(63, 4)); }},
    {"record", [] { return with(good(), kHeaderSize + 60, number(~0u, 4)); }},
    {"record", [] { return with(good(), kHeaderSize + 60, number(kRecordSize, 4)); }},
    {"record", [] { return with(good(), kHeaderSize + 64, "names"); }},
    {"empty", [] { return of_entries(kStart, ""); }},
    {"tail", [] { return with(good(), kHeaderSize + kRecordSize - 1, "x"); }},
    {"cut", [] { return with(good(), kFirst, "\x20"); }},
    {"entry", [] { return with(good(), kFirst + 1 + 7, number(0, 4)); }},
    {"entry", [] { return with(good(), kFirst + 1 + 7, number(200, 4)); }},
    {"entry", [] { return of_entries(kStart + 1, entry(256, kStart + 1, "jq")); }},
    {"entry", [] { return with(good(), kFirst + 14, std::string(1, '\0')); }},
    {"wrap", [] { return with(good(), kHeaderSize, number(kStart + (1ULL << 32) + 2, 8)); }},
    {"wrap", [] { return with(good(), kHeaderSize + 8, number(0, 8)); }},
    {"wrap", [] { return of_entries(kStart + 1, made::wrap(0) + entry(257, kStart + 1, "jq")); }},
    {"wrap",
     [] {
       return of_entries(kStart + 1, entry(257, kStart, "jq") + made::wrap(1) + entry(257, kStart + 1, "jq"));
     }},
    {"lost",
     [] {
       return of_entries(kStart + 1, entry(257, kStart, "jq") + made::lost(1) + entry(257, kStart + 1, "jq"));
     }},
    {"lost", [] { return of_entries(kStart + 1, made::lost(0) + entry(257, kStart + 1, "jq")); }},
    {"lost", [] { return of_entries(kStart + 1, made::lost(1)); }},
    {"time",
     [] { return of_entries(kStart + 1, entry(257, kStart + 2, "jq") + entry(257, kStart + 1, "jq")); }},
    {"time",
     [] { return of_entries(kStart + 1, entry(257, kStart - 1, "jq") + entry(257, kStart + 1, "jq")); }},
    {"time", [] { return of_entries(kStart + 9, entry(257, kStart + 9, "jq")) + good().bytes(kRecordSize); }},
    {"thread-id", [] { return with(good(), kHeaderSize + 32, number(1ULL << 63, 8)); }},
    {"thread-id", [] { return with(good(), kHeaderSize + 32, number(0, 8)); }},
    {"record", [] { return with(good(), kTypeAt, number(0, 4)) + good().bytes(kRecordSize); }},
};

TEST(OpenJ9Reader, ReportsEachBrokenRule) {
  EXPECT_EQ(describe(read(with(good(), 0, {})).violations), "");
  for (std::size_t i = 0; i < std::size(kBroken); ++i) {
    const auto violations = read(kBroken[i].file()).violations;
    EXPECT_TRUE(std::ranges::any_of(
        violations, [&](const Violation& v) { return std::string(name(v.rule)) == kBroken[i].rule; }))
        << "row " << i << ", " << kBroken[i].rule << ":\n"
        << describe(violations);
  }
  EXPECT_EQ(read_file("/nowhere").violations.at(0).rule, Rule::kFileRead);
}

constexpr const char* kBrokenLines[] = {
    "",
    "# a comment",
    "jq.1 0 1 1 N Trc_A \"  a\"",
    "jq.0 0 1  1 N Trc_A \"  a\"",
    "jq.0 15 1 1 N Trc_A \"  a\"",
    "jq.0 0 1 one N Trc_A \"  a\"",
    "jq.0 0 1 1 N Trc_A   a",
    "jq.0 0 1 1 N Trc_A \"  \"",
    "jq.0 2 1 1 N Trc_A \"  a\"",
    "jq.0 1 1 1 N Trc_A \"  a\"",
    "jq.0 0 1 1 N Trc_A \"  a%\"",
    "jq.0 0 1 1 N Trc_A \"  a%l\"",
    "jq.0 0 1 1 N Trc_A \"  %hd\"",
    "jq.0 0 1 1 N Trc_A \"  %+d\"",
    "jq.0 0 1 1 N Trc_A \"  %12345678901d\"",
    "jq.0 0 1 1 N Trc_A \"  a\"\nx.0 0 1 1 N Trc_B \"  a\"\njq.1 0 1 1 N Trc_C \"  a\"",
};

TEST(OpenJ9Reader, ReportsEachBrokenLineOfAFormatDataFile) {
  for (const char* const line : kBrokenLines) {
    Catalogue catalogue;
    add_templates("5.1\n" + std::string(line) + "\r\nx.0 0 1 1 N Trc_A \"  a\"\n", catalogue);
    EXPECT_NE(describe(catalogue.violations), "") << line;
  }
  Catalogue catalogue;
  add_templates("x.0 0 1 1 N Trc_A \"  a\"\n", catalogue);
  EXPECT_EQ(catalogue.violations.at(0).rule, Rule::kDat);
}

struct Printed {
  const char* text;  // of the template
  std::string parameters;
  const char* line;
  const char* rule = "";  // that is broken
};

const Printed kPrinted[] = {
    {"%d %i %ld", number(-1, 4) + number(7, 4) + number(1u << 31, 4), "-1 7 -2147483648"},
    {"%u %x 0x%X %lx", number(~0u, 4) + number(255, 4) + number(255, 4) + number(1, 4),
     "4294967295 0xff 0xff 0x1"},
    {"%lld %llu %llx", number(-5, 8) + number(-5, 8) + number(-0x80, 8), "-5 -5 0x-80"},
    {"%zd %zu %zx %I64d", number(-5, 8) + number(6, 8) + number(255, 8) + number(1, 8), "-5 6 0xff 1"},
    {"%p 0x%p", number(~0ULL, 8) + number(16, 8), "0xffffffffffffffff 0x10"},
    {"%f|%g|%f",
     number(0x3FE0000000000000, 8) + number(0x4480F0CF064DD592, 8) + number(0x7FF8000000000000, 8),
     "0.5|1.0E22|NaN"},
    {"%c%%", "k", "k%"},
    {"%5d|%-5d|%05d|%.5d", number(42, 4) + number(42, 4) + number(42, 4) + number(42, 4),
     "   42|42   |00042|00042"},
    {"%s|%.*s", std::string("abc\0", 4) + number(3, 2) + "d\xC3\xA9", "abc|d\xC3\xA9"},
    {"%d %d", number(1, 4), "1 <missing in trace>", "parameters"},
    {"%d", number(1, 8), "1", "parameters"},
    {"%d", "", "???", "parameters"},
    {"%s", std::string("\xC3\0", 2), "\xEF\xBF\xBD", "text"},
    {"%.*s", number(1, 2) + "\xC3", "\xEF\xBF\xBD", "text"},
    {"%.*s", number(1, 2) + "\n", "\n", "text"},
};

TEST(OpenJ9Reader, PrintsParametersAsTheFormatterDoes) {
  for (const auto& [words, parameters, line, rule] : kPrinted) {
    Catalogue catalogue;
    add_templates("5.1\njq.0 0 1 1 N Trc_A \"  " + std::string(words) + "\"\n", catalogue);
    EXPECT_EQ(describe(catalogue.violations), "");
    File file;
    file.header.pointer_size = 8;
    std::vector<Violation> violations;
    const Entry entry{0, 0, 0, "jq", "", 0, parameters};
    EXPECT_EQ(message(file, entry, *catalogue.find("jq", 0), violations), "  " + std::string(line));
    EXPECT_EQ(std::string(violations.empty() ? "" : name(violations[0].rule)), rule) << words;
  }
}

}  // namespace
}  // namespace openj9_reader
