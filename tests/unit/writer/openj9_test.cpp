// What a reader that was written from the format's specification understands of our traces: clocks, texts,
// losses, each trace point.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/readers/openj9/bytes.hpp"
#include "tests/unit/writer/openj9_trace.hpp"
#include "writer/openj9/exception_buffer.hpp"
#include "writer/openj9/record.hpp"
#include "writer/openj9/trace_point.hpp"

namespace jitquill::openj9 {
namespace {

using openj9_reader::File;
using tests::chars;
using tests::kClock;

template <class Case>
class OpenJ9Writer : public testing::Test {};
TYPED_TEST_SUITE(OpenJ9Writer, tests::Targets);

constexpr std::uint64_t kKey = 0x1234'5678;

template <Target kTarget>
struct Thread {
  explicit Thread(std::uint32_t size, std::uint64_t key = kKey) {
    EXPECT_TRUE(record.open(size, kClock, {key, 7, "nib"}));
  }
  template <Point kPoint = Point::kEnter>
  Status enter(std::uint64_t ticks, std::string_view name) {
    parameters.clear();
    const auto& head = head_of<kTarget>(kPoint);
    const Status cut =
        put_parameters<kTarget, kPoint>(head.most_parameters(record.most_room()), parameters, name);
    EXPECT_EQ(record.put(ticks, head, parameters.view(), out), Status::kOk);
    return cut;
  }
  std::string file(std::uint32_t size) {
    EXPECT_EQ(record.close(out), Status::kOk);
    return tests::header<kTarget>(size) + std::string(chars(out));
  }

  Record<kTarget> record;
  Bytes parameters, out;
};

TEST(OpenJ9, FormatDataFileIsTaken) {
  const auto catalogue = tests::own_templates();
  EXPECT_EQ(catalogue.components.at("dg").size(), kThreadEndNumber + 1);
  for (const PointRow& row : kPointRows) {
    const auto* const found = catalogue.find(std::string(row.component), static_cast<int>(row.number));
    ASSERT_NE(found, nullptr) << row.name;
    EXPECT_EQ(found->text.substr(2), row.text);
    EXPECT_EQ(found->type, static_cast<int>(row.type));
    EXPECT_EQ(found->text.find(" ,"), std::string::npos) << found->text;
  }
}

// Each by its row: what a template asks for is what the reader finds.
TYPED_TEST(OpenJ9Writer, EachTracePointIsPrinted) {
  constexpr Target kTarget = TypeParam::kTarget;
  constexpr std::uint32_t kSize = 1024;
  Thread<kTarget> thread(kSize);
  for (const PointRow& row : kPointRows) {
    Bytes parameters;
    Parameters<kTarget> putter(row.signature, 200, parameters);
    for (std::size_t i = 0; i < row.signature.count; ++i) {
      const ParameterType type = row.signature.types[i];
      type == ParameterType::kText ? putter.put(type, std::string_view("text"))
                                   : putter.put(type, std::uint64_t{i + 40});
    }
    EXPECT_EQ(putter.status(), Status::kOk);
    const EntryHead<kTarget> head(row.component, row.number);
    EXPECT_EQ(thread.record.put(kClock.start_ticks + row.number, head, parameters.view(), thread.out),
              Status::kOk);
    EXPECT_EQ(thread.record.close(thread.out), Status::kOk);
  }
  const std::string trace = thread.file(kSize);
  File file = openj9_reader::read(trace);
  std::erase_if(file.violations,
                [](const auto& v) { return v.rule == openj9_reader::Rule::kTime; });  // two tables
  EXPECT_EQ(describe(file.violations), "");
  const auto text = text_of(file, tests::own_templates());
  EXPECT_EQ(describe(text.violations), "");
  EXPECT_EQ(file.entries.size(), kPointRows.size());
  tests::expect_as_formatted(trace, file, text);
  EXPECT_NE(text.text.find("heap size, size 40 bytes\n"), text.text.npos);
  EXPECT_NE(text.text.find("* text, unwound\n"), text.text.npos - 1);
}

// Of what the formatter would print as it is, and of what it reads wrongly.
TYPED_TEST(OpenJ9Writer, TextsComeBack) {
  constexpr Target kTarget = TypeParam::kTarget;
  constexpr std::uint32_t kSize = 40'960;
  Thread<kTarget> thread(kSize);
  std::vector<std::string> expected;
  std::uint64_t ticks = kClock.start_ticks;
  const auto put = [&](std::string_view text, std::string_view printed, Status status = Status::kOk) {
    EXPECT_EQ(thread.enter(++ticks, text), status) << printed.substr(0, 40);
    expected.push_back(" >" + std::string(printed));
  };
  for (const unsigned size :
       {0u, 1u, 236u, 237u, 238u, 239u, 240u, 241u, 254u, 255u, 256u, 495u, 496u, 32'767u}) {
    const std::string text(size, 'x');
    put(text, text);
  }
  put(std::string(70'000, 'y'), std::string(32'767, 'y'), Status::kTextCut);
  put(std::string(32'765, 'z') + "\xE2\x82\xAC", std::string(32'765, 'z'), Status::kTextCut);
  put("a\nb\r\tc", "a\\nb\\r\\tc");
  put(std::string_view("a\0b\x1B\x7F", 5), "a\\x00b\\x1b\\x7f");
  put("\xC2\x85", "\\xc2\\x85");
  put("\xE4\xB8\xAD App\\Foo", "\xE4\xB8\xAD App\\Foo");
  put("\xFF\xC3(\xED\xA0\x80", "\\xff\\xc3(\\xed\\xa0\\x80");
  const std::string trace = thread.file(kSize);
  const File file = openj9_reader::read(trace);
  EXPECT_EQ(describe(file.violations), "");
  const auto catalogue = tests::own_templates();
  tests::expect_as_formatted(trace, file, text_of(file, catalogue));
  std::vector<openj9_reader::Violation> violations;
  ASSERT_EQ(file.entries.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& entry = file.entries[i];
    EXPECT_EQ(message(file, entry, *catalogue.find(entry.component, entry.number), violations), expected[i]);
  }
  EXPECT_EQ(describe(violations), "");
}

// A simulated clock whose upper half changes within records and between them, by one and by more.
TYPED_TEST(OpenJ9Writer, ClockComesBackAcrossWraps) {
  constexpr Target kTarget = TypeParam::kTarget;
  constexpr std::uint32_t kSize = 512;
  const bool is_long = std::getenv("JITQUILL_LONG") != nullptr;
  const std::size_t entries = is_long ? 1'000'000 : 10'000;
  std::mt19937_64 random(1);
  Thread<kTarget> thread(kSize);
  std::vector<std::uint64_t> expected;
  std::uint64_t ticks = kClock.start_ticks;
  for (std::size_t i = 0; i < entries; ++i) {
    const unsigned kind = random() % 8;
    ticks += kind == 0   ? random() % (1ULL << 34)
             : kind == 1 ? (1ULL << 32) - (ticks & 0xFFFFFFFF)
                         : random() % 1000;
    expected.push_back(ticks);
    // None that indents what follows: the text would be as wide as it is long.
    EXPECT_EQ(thread.template enter<Point::kCaller>(ticks, "f"), Status::kOk);
  }
  const std::string trace = thread.file(kSize);
  const File file = openj9_reader::read(trace);
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.ticks_per_ms(), 1'000'000u);
  tests::expect_as_formatted(trace, file, text_of(file, tests::own_templates()));
  std::vector<std::uint64_t> found;
  for (const auto& entry : file.entries) found.push_back(entry.ticks);
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(openj9_reader::time_of(file, kClock.start_ticks + 1'234'567), "03:04:05.001234567");
}

TYPED_TEST(OpenJ9Writer, RecordsAreFullToTheLastByte) {
  constexpr Target kTarget = TypeParam::kTarget;
  for (std::uint32_t size = 256; size < 320; size += 8) {
    Thread<kTarget> thread(size);
    for (std::uint64_t i = 0; i < 500; ++i)
      EXPECT_EQ(thread.enter(kClock.start_ticks + i, std::string(i % 90, 'n')), Status::kOk);
    const std::string trace = thread.file(size);
    const File file = openj9_reader::read(trace);
    EXPECT_EQ(describe(file.violations), "");
    EXPECT_EQ(file.entries.size(), 500u);
    tests::expect_as_formatted(trace, file, text_of(file, tests::own_templates()));
  }
}

TYPED_TEST(OpenJ9Writer, WhatNoRecordHasRoomForIsRefused) {
  constexpr Target kTarget = TypeParam::kTarget;
  Thread<kTarget> thread(256);
  const std::vector<std::uint8_t> many(256);
  EXPECT_EQ(thread.record.put(kClock.start_ticks, head_of<kTarget>(Point::kEnter), many, thread.out),
            Status::kTooLarge);
  EXPECT_TRUE(thread.record.is_empty());
  EXPECT_EQ(thread.enter(kClock.start_ticks, std::string(300, 'x')), Status::kTextCut);
  const File file = openj9_reader::read(thread.file(256));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.entries.size(), 1u);
}

TYPED_TEST(OpenJ9Writer, LossesAreToldInFrontOfWhatFollows) {
  constexpr Target kTarget = TypeParam::kTarget;
  Thread<kTarget> thread(256);
  (void)thread.enter(kClock.start_ticks, "before");
  EXPECT_EQ(thread.record.lose(2, thread.out), Status::kOk);
  EXPECT_EQ(thread.record.lose(3, thread.out), Status::kOk);
  (void)thread.enter(kClock.start_ticks + (5ULL << 32), "behind");
  const std::string trace = thread.file(256);
  const File file = openj9_reader::read(trace);
  tests::expect_as_formatted(trace, file, text_of(file, tests::own_templates()));
  EXPECT_EQ(describe(file.violations), "");
  ASSERT_EQ(file.records.size(), 2u);
  EXPECT_EQ(file.records[0].lost, 0u);
  EXPECT_EQ(file.records[1].lost, 5u);
}

TYPED_TEST(OpenJ9Writer, ExceptionBufferSaysWhoseInEachRecord) {
  constexpr Target kTarget = TypeParam::kTarget;
  constexpr std::uint32_t kSize = 256;
  ExceptionBuffer<kTarget> buffer;
  ASSERT_TRUE(buffer.open(kSize, kClock));
  Bytes out, parameters;
  ASSERT_EQ((put_parameters<kTarget, Point::kEnter>(100, parameters, std::string_view("f"))), Status::kOk);
  for (std::uint64_t i = 0; i < 40; ++i)
    ASSERT_EQ(buffer.put(0x100 + i / 7, kClock.start_ticks + i, head_of<kTarget>(Point::kEnter),
                         parameters.view(), out),
              Status::kOk);
  ASSERT_EQ(buffer.record().close(out), Status::kOk);
  const std::string trace = tests::header<kTarget>(kSize) + std::string(chars(out));
  const File file = openj9_reader::read(trace);
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_GT(file.records.size(), 3u);
  tests::expect_as_formatted(trace, file, text_of(file, tests::own_templates()));
  std::uint64_t whose = 0, seen = 0;
  std::size_t record = 0, left = 0;
  for (const auto& entry : file.entries) {
    if (left == 0) whose = 0, left = file.records[record++].entries;  // as if it were the first that is there
    --left;
    const openj9_reader::Source parameters_of(entry.parameters, kTarget.order == std::endian::big);
    if (entry.component == "dg")
      whose = parameters_of.number(0, kTarget.pointer_size);
    else
      EXPECT_EQ(whose, 0x100 + seen++ / 7);
  }
  EXPECT_EQ(seen, 40u);
}

TEST(OpenJ9, TemplatesThatTheFormatterCannotDoWithAreRefused) {
  for (const char* const bad : {"",
                                "%",
                                "100 %",
                                "%l",
                                "%ll",
                                "%z",
                                "%hd",
                                "%hhd",
                                "%o",
                                "%e",
                                "%n",
                                "%Lf",
                                "%+d",
                                "% d",
                                "%#x",
                                "%*d",
                                "%.*d",
                                "%.*",
                                "%08x",
                                "%012345d",
                                "a\nb",
                                "\xC3\xA9",
                                "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d"})
    EXPECT_NE(parse_template(bad).fault, nullptr) << bad;
  const Parsed good = parse_template("%d %5u 0x%08x %lld %llu %zd %p %f %c %s %.*s 100 %% %.5d");
  EXPECT_EQ(good.fault, nullptr);
  EXPECT_EQ(good.signature.count, 12u);
  EXPECT_EQ(good.signature.types[10], ParameterType::kText);
  EXPECT_FALSE(is_component_name("a.b"));
  EXPECT_FALSE(is_component_name(""));
  EXPECT_TRUE(is_component_name("jq_1"));
}

TEST(OpenJ9, HeadersThatNobodyCanReadAreRefused) {
  for (const std::uint32_t size : {0u, 184u, 193u, 1u << 31}) {
    Header header;
    header.record_size = size;
    Bytes out;
    EXPECT_EQ(put_header<kHost>(header, out), Status::kTooLarge) << size;
    EXPECT_EQ(out.size(), 0u);
  }
}

// The formatter's clock begins at the edge of a millisecond, and stamps make its rate exact.
TEST(OpenJ9, ClockIsStampedAtEdges) {
  const Clock clock = Clock::at(7'000'123'456, 1'000'000'000'123'456);
  EXPECT_EQ(clock.start_ticks, 7'000'000'000u);
  EXPECT_EQ(clock.start_ms, 1'000'000'000u);
  for (const std::uint64_t ticks :
       {0ULL, 1ULL, 7'000'000'000ULL, 7'000'000'001ULL, 7'001'000'000ULL, 1ULL << 62}) {
    const auto [stamped, ms] = clock.stamp(ticks);
    EXPECT_GE(stamped, ticks);
    EXPECT_GT(ms, clock.start_ms);
    EXPECT_EQ(stamped - clock.start_ticks, (ms - clock.start_ms) * Clock::kTicksPerMs);
  }
  EXPECT_EQ(Clock::at(5, 999).start_ticks, 1u);
}

}  // namespace
}  // namespace jitquill::openj9
