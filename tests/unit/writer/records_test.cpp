// Lines, names and limits of the jitdump records; the bytes of whole groups are in tests/golden.
#include "writer/jitdump/records.hpp"
#include "writer/jitdump/group.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/writer/failing_new.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kAddress = 0x10000;
constexpr std::uint8_t kCode[20] = {0xC3};

struct Row {
  std::uint64_t offset;
  std::uint32_t line;
  std::uint32_t column;
  std::string file;
  bool operator==(const Row&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Row& row) {
  return to << '+' << row.offset << ' ' << row.file << ':' << row.line << ':' << row.column;
}

template <class T>
T field(const Bytes& out, std::size_t at) {
  T value{};
  if (at + sizeof value > out.size()) {
    ADD_FAILURE() << "record ends before " << at;
    return value;
  }
  std::memcpy(&value, out.view().data() + at, sizeof value);
  return value;
}
std::string text_at(const Bytes& out, std::size_t at) {
  const auto* const begin = reinterpret_cast<const char*>(out.view().data()) + at;
  return {begin, strnlen(begin, out.size() - at)};
}

std::vector<Row> rows_of(const Bytes& out) {
  EXPECT_EQ(field<std::uint32_t>(out, 0), 2u) << "no CODE_DEBUG_INFO";
  const auto count = field<std::uint64_t>(out, 24);
  std::vector<Row> rows;
  std::size_t at = 32;
  for (std::uint64_t i = 0; i < count; ++i) {
    rows.push_back({field<std::uint64_t>(out, at) - kAddress, field<std::uint32_t>(out, at + 8),
                    field<std::uint32_t>(out, at + 12), text_at(out, at + 16)});
    at += 16 + rows.back().file.size() + 1;
  }
  EXPECT_EQ(at, field<std::uint32_t>(out, 4)) << "total_size";
  return rows;
}

class Records : public testing::Test {
 protected:
  Records() {
    load.address = kAddress;
    load.bytes = kCode;
    load.name = "f";
  }
  Status put(std::span<const Line> lines) {
    load.lines = lines;
    out.clear();
    load.index = 7;
    return put_group(out, load, 0, written);
  }
  CodeLoad load;
  Written written;
  Bytes out;
};

TEST_F(Records, LastLineIsRepeatedAtTheCodesEnd) {
  const Line lines[] = {{0, 3, 5, "a.src"}, {8, 4, 6, "b.src"}};
  EXPECT_EQ(put(lines), Status::kOk);
  EXPECT_EQ(rows_of(out), (std::vector<Row>{{0, 3, 5, "a.src"}, {8, 4, 6, "b.src"}, {20, 4, 6, "b.src"}}));
}

TEST_F(Records, FirstLineBeginsAtTheCodesStart) {
  const Line lines[] = {{4, 3, 0, "a.src"}};
  EXPECT_EQ(put(lines), Status::kOk);
  EXPECT_EQ(rows_of(out), (std::vector<Row>{{0, 3, 0, "a.src"}, {20, 3, 0, "a.src"}}));
}

TEST_F(Records, LastOfSeveralLinesAtOneOffsetHolds) {
  const Line lines[] = {{0, 1, 0, "a"}, {0, 2, 0, "a"}, {8, 3, 0, "a"}, {8, 4, 0, "b"}, {8, 5, 0, "c"}};
  EXPECT_EQ(put(lines), Status::kOk);
  EXPECT_EQ(rows_of(out), (std::vector<Row>{{0, 2, 0, "a"}, {8, 5, 0, "c"}, {20, 5, 0, "c"}}));
}

TEST_F(Records, DescendingLinesAreLeftOut) {
  const Line lines[] = {{0, 1, 0, "a"}, {8, 2, 0, "a"}, {7, 3, 0, "a"}};
  EXPECT_EQ(put(lines), Status::kLinesLeftOut);
  EXPECT_EQ(field<std::uint32_t>(out, 0), 0u) << "CODE_LOAD comes first";
}

TEST_F(Records, FileNamesAreCleanAndDefaultToTheFunctions) {
  const Line lines[] = {{0, 1, 0, "a\nb"}, {8, 2, 0, nullptr}, {9, 3, 0, nullptr}, {10, 4, 0, "c"}};
  load.file = "f\tg";
  EXPECT_EQ(put(lines), Status::kOk);
  EXPECT_EQ(rows_of(out),
            (std::vector<Row>{
                {0, 1, 0, "a?b"}, {8, 2, 0, "f?g"}, {9, 3, 0, "f?g"}, {10, 4, 0, "c"}, {20, 4, 0, "c"}}));
}

TEST_F(Records, FileNamesOfAnyLengthRepeat) {
  std::vector<std::string> names;
  for (const std::size_t size : {1u, 62u, 63u, 64u, 65u, 300u}) names.emplace_back(size, 'n');
  for (const std::size_t length_of_run : {1u, 2u, 3u, 20u}) {
    std::vector<Line> lines;
    std::vector<Row> expected;
    for (std::uint32_t i = 0; i < 20; ++i) {
      const std::string& name = names[i / length_of_run * 5 % names.size()];
      lines.push_back({i, i + 1, 0, name.c_str()});
      expected.push_back({i, i + 1, 0, name});
    }
    expected.push_back({20, 20, 0, expected.back().file});
    EXPECT_EQ(put(lines), Status::kOk);
    EXPECT_EQ(rows_of(out), expected) << "runs of " << length_of_run;
  }
}

TEST_F(Records, LinesWithoutAnyFileAreLeftOut) {
  const Line lines[] = {{0, 1, 0, "a"}, {8, 2, 0, nullptr}};
  load.file = nullptr;
  EXPECT_EQ(put(lines), Status::kLinesLeftOut);
  EXPECT_TRUE(written.lines_left_out);
}

TEST_F(Records, BothOmissionsAreToldApart) {
  const Line lines[] = {{20, 1, 0, "a"}};
  const FrameEvent frame[] = {{1, FrameEventKind::kFree, 0, 8}};
  load.unwinding.events = frame;
  load.unwinding.kind = Unwinding::Kind::kFrameEvents;
  EXPECT_EQ(put(lines), Status::kUnwindingLeftOut);
  EXPECT_TRUE(written.lines_left_out);
  EXPECT_TRUE(written.unwinding_left_out);
}

TEST_F(Records, NamesAreCleanAndNeverEmpty) {
  load.name = "two\nlines";
  EXPECT_EQ(put({}), Status::kOk);
  EXPECT_EQ(text_at(out, 56), "two?lines");
  EXPECT_TRUE(written.name_changed);
  load.name = {};
  EXPECT_EQ(put({}), Status::kOk);
  EXPECT_EQ(text_at(out, 56), "jit_10000");
  EXPECT_FALSE(written.name_changed);
}

TEST_F(Records, EmptyAndHugeCodeLeavesTheBufferAsItWas) {
  out.u32(0xFEEDBEEF);
  load.bytes = {};
  EXPECT_EQ(put_group(out, load, 0, written), Status::kEmptyCode);
  load.bytes = {kCode, std::size_t{1} << 31};  // refused before a byte is read
  EXPECT_EQ(put_group(out, load, 0, written), Status::kTooLarge);
  EXPECT_EQ(out.size(), 4u);
}

TEST_F(Records, WithoutMemoryTheBufferIsAsItWas) {
  out.fill(1, 1000);
  const Line lines[] = {{0, 1, 0, "a"}};
  load.lines = lines;
  load.unwinding.kind = Unwinding::Kind::kFrameEvents;
  const tests::NoMemoryHere none;
  EXPECT_EQ(put_group(out, load, 0, written), Status::kNoMemory);
  EXPECT_EQ(out.size(), 1000u);
}

}  // namespace
}  // namespace jitquill::jitdump
