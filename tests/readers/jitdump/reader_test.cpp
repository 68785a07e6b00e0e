// The strict reader finds what the sample holds, and reports each rule when it is broken, at the right place.
#include "tests/readers/jitdump/reader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "tests/readers/jitdump/sample.hpp"

namespace jitdump_reader {
namespace {

using Bytes = std::vector<std::uint8_t>;

Expectations strictly() {
  Expectations expectations;
  expectations.pid = kSamplePid;
  return expectations;
}

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
void add(Bytes& bytes, std::size_t at, T change) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  put<T>(bytes, at, static_cast<T>(value + change));
}

// Inserts into the record that starts at `record`, whose size grows with it.
void insert(Bytes& bytes, std::size_t record, std::size_t at, const Bytes& what) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), what.begin(), what.end());
  add<std::uint32_t>(bytes, record + 4, static_cast<std::uint32_t>(what.size()));
}

void erase(Bytes& bytes, std::size_t from, std::size_t to) {
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(from),
              bytes.begin() + static_cast<std::ptrdiff_t>(to));
}

// Repeats the bytes [from, to) at `at`.
void repeat(Bytes& bytes, std::size_t from, std::size_t to, std::size_t at) {
  const Bytes copy(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                   bytes.begin() + static_cast<std::ptrdiff_t>(to));
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
}

// The sample's function described by two FDEs, [0,10) and [10,44).
void describe_by_two(Bytes& bytes) {
  const auto fde = [&](std::size_t at, std::int32_t start, std::uint32_t range) {
    put<std::uint32_t>(bytes, at, 16);
    put<std::uint32_t>(bytes, at + 4, static_cast<std::uint32_t>(at + 4 - kBlobAt));
    put<std::int32_t>(bytes, at + 8, start - static_cast<std::int32_t>(48 + at + 8 - kBlobAt));
    put<std::uint32_t>(bytes, at + 12, range);
    put<std::uint32_t>(bytes, at + 16, 0);
  };
  fde(kFdeAt, 0, 10);
  fde(kFdeAt + 20, 10, 34);
  insert(bytes, kUnwindAt, kHdrAt + 20, Bytes(8));
  add<std::uint64_t>(bytes, kUnwindAt + 16, 8);
  add<std::uint64_t>(bytes, kUnwindAt + 24, 8);
  add<std::uint64_t>(bytes, kUnwindAt + 32, 8);
  put<std::uint32_t>(bytes, kHdrAt + 8, 2);
  put<std::int32_t>(bytes, kHdrAt + 12, -112);
  put<std::int32_t>(bytes, kHdrAt + 16, 24 - 64);
  put<std::int32_t>(bytes, kHdrAt + 20, -112 + 10);
  put<std::int32_t>(bytes, kHdrAt + 24, 44 - 64);
}

struct Damage {
  Rule rule;
  std::uint64_t offset;
  std::function<void(Bytes&)> change;
};

const std::vector<Damage>& damages();

TEST(JitdumpReader, ReadsTheSampleWithoutViolation) {
  const Dump dump = read(sample(), strictly());
  EXPECT_EQ(describe(dump.violations), "");
  EXPECT_TRUE(dump.closed);
  EXPECT_FALSE(dump.torn);
  ASSERT_EQ(dump.functions.size(), 1u);
  const Function& function = dump.functions.front();
  EXPECT_EQ(function.name, "jitted_hot");
  EXPECT_EQ(function.address, kSampleAddress);
  EXPECT_EQ(function.code.size(), 44u);
  EXPECT_EQ(function.code.front(), 0x53);
  EXPECT_EQ(function.code.back(), 0xC3);
  EXPECT_EQ(function.index, 1u);
  EXPECT_EQ(function.pid, kSamplePid);
}

TEST(JitdumpReader, ReadsTheSamplesLines) {
  const Dump dump = read(sample(), strictly());
  const std::pair<std::uint64_t, std::uint32_t> expected[] = {{0, 3},  {16, 4}, {21, 5}, {25, 6},
                                                              {28, 7}, {33, 9}, {44, 9}};
  ASSERT_EQ(dump.functions.at(0).lines.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Line& line = dump.functions[0].lines[i];
    EXPECT_EQ(line.address - kSampleAddress, expected[i].first);
    EXPECT_EQ(line.line, expected[i].second);
    EXPECT_EQ(line.file, "hot.src");
  }
}

TEST(JitdumpReader, FindsTheFrameAtEveryInstructionOfTheSample) {
  const Dump dump = read(sample(), strictly());
  const Unwinding& unwinding = dump.functions.at(0).unwinding.value();
  const std::pair<std::uint64_t, std::int64_t> expected[] = {
      {0, 8}, {1, 16}, {2, 16}, {3, 24}, {9, 24}, {10, 176}, {39, 176}, {40, 24}, {42, 16}, {43, 8}};
  for (const auto& [pc, cfa] : expected) {
    const FrameRow* row = row_at(unwinding, pc);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->cfa_offset, cfa) << "pc " << pc;
    EXPECT_EQ(row->cfa_register, kRsp);
  }
  EXPECT_EQ(row_at(unwinding, 1)->registers[3], (RegisterRule{RegisterRule::Kind::kAt, -16}));
  EXPECT_EQ(row_at(unwinding, 1)->registers[12].kind, RegisterRule::Kind::kUnset);
  EXPECT_EQ(row_at(unwinding, 3)->registers[12], (RegisterRule{RegisterRule::Kind::kAt, -24}));
}

TEST(JitdumpReader, AcceptsAFunctionWithSeveralFdes) {
  Bytes bytes = sample();
  describe_by_two(bytes);
  EXPECT_EQ(describe(read(bytes, strictly()).violations), "");
}

TEST(JitdumpReader, AcceptsALoadAlone) {
  Bytes bytes = sample();
  erase(bytes, kDebugAt, kLoadAt);
  const Dump dump = read(bytes, strictly());
  EXPECT_EQ(describe(dump.violations), "");
  EXPECT_FALSE(dump.functions.at(0).unwinding.has_value());
}

TEST(JitdumpReader, AcceptsTheStubThatSaysFramePointers) {
  Bytes bytes = sample();
  erase(bytes, kBlobAt, kHdrAt);
  add<std::uint32_t>(bytes, kUnwindAt + 4, static_cast<std::uint32_t>(-64));
  put<std::uint64_t>(bytes, kUnwindAt + 16, 20);
  put<std::uint64_t>(bytes, kUnwindAt + 32, 0);
  put<std::int32_t>(bytes, kBlobAt + 4, -4);
  put<std::uint32_t>(bytes, kBlobAt + 8, 0);
  const Dump dump = read(bytes, strictly());
  EXPECT_EQ(describe(dump.violations), "");
  EXPECT_TRUE(dump.functions.at(0).unwinding->frame_pointers);
}

TEST(JitdumpReader, AcceptsATornTailOnlyFromAKilledProcess) {
  for (std::size_t size = kDebugAt; size < sample().size(); ++size) {
    Bytes bytes = sample();
    bytes.resize(size);
    Expectations killed = strictly();
    killed.may_be_torn = true;
    EXPECT_EQ(describe(read(bytes, killed).violations), "") << size;
    const bool whole = size == kDebugAt || size == kCloseAt;
    EXPECT_EQ(read(bytes, strictly()).violations.empty(), whole) << size;
  }
}

TEST(JitdumpReader, ReportsEachBrokenRuleAtItsPlace) {
  for (const Damage& damage : damages()) {
    Bytes bytes = sample();
    damage.change(bytes);
    Expectations expectations = strictly();
    expectations.latest_ns = std::uint64_t{1} << 48;
    expectations.nothing_freed = damage.rule == Rule::kLoadOverlap;
    const Dump dump = read(bytes, expectations);
    bool reported = false;
    for (const Violation& v : dump.violations)
      reported = reported || (v.rule == damage.rule && v.offset == damage.offset);
    EXPECT_TRUE(reported) << name(damage.rule) << " at " << std::hex << damage.offset << " is missing in:\n"
                          << describe(dump.violations);
  }
}

TEST(JitdumpReader, IsTriedOnEveryRule) {
  std::set<Rule> tried = {Rule::kFileRead, Rule::kFileName};  // by the tests on files, below
  for (const Damage& damage : damages()) tried.insert(damage.rule);
#define RULE(id, name, consequence) EXPECT_TRUE(tried.count(Rule::id)) << name;
#include "tests/readers/jitdump/rules.def"
#undef RULE
}

class JitdumpFile : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/jitdump-reader.XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Dump read_as(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    const Bytes bytes = sample();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return read_file(path);
  }
  std::string folder_;
};

TEST_F(JitdumpFile, MustBeNamedAfterItsProcess) {
  EXPECT_EQ(describe(read_as("jit-13698.dump").violations), "");
  for (const char* wrong :
       {"jit-.dump", "jitx-13698.dump", "jit-13698.dump2", "jit-013698.dump", "jit-1 3698.dump"}) {
    const Dump dump = read_as(wrong);
    ASSERT_EQ(dump.violations.size(), 1u) << wrong;
    EXPECT_EQ(dump.violations[0].rule, Rule::kFileName);
  }
}

TEST_F(JitdumpFile, MustHaveThePidOfItsName) {
  const Dump dump = read_as("jit-13699.dump");
  ASSERT_EQ(dump.violations.size(), 1u);
  EXPECT_EQ(dump.violations[0].rule, Rule::kHeaderPid);
}

TEST_F(JitdumpFile, MustExist) {
  EXPECT_EQ(read_file(folder_ + "/jit-1.dump").violations.at(0).rule, Rule::kFileRead);
}

const std::vector<Damage>& damages() {
  using R = Rule;
  static const std::vector<Damage> all = {
      {R::kHeaderSize, 0, [](Bytes& b) { b.resize(39); }},
      {R::kHeaderSize, 8, [](Bytes& b) { put<std::uint32_t>(b, 8, 48); }},
      {R::kHeaderMagic, 0, [](Bytes& b) { put<std::uint32_t>(b, 0, 0x4454694A); }},
      {R::kHeaderVersion, 4, [](Bytes& b) { put<std::uint32_t>(b, 4, 2); }},
      {R::kHeaderMachine, 12, [](Bytes& b) { put<std::uint32_t>(b, 12, 0); }},
      {R::kHeaderPad, 16, [](Bytes& b) { put<std::uint32_t>(b, 16, 0xDEADBEEF); }},
      {R::kHeaderPid, 20, [](Bytes& b) { put<std::uint32_t>(b, 20, 1); }},
      {R::kHeaderTime, 24, [](Bytes& b) { put<std::uint64_t>(b, 24, 0); }},
      {R::kHeaderTime, 24, [](Bytes& b) { put<std::uint64_t>(b, 24, std::uint64_t{1} << 50); }},
      {R::kHeaderFlags, 32, [](Bytes& b) { put<std::uint64_t>(b, 32, 2); }},
      {R::kRecordTorn, kCloseAt, [](Bytes& b) { b.pop_back(); }},
      {R::kRecordTorn, kLoadAt, [](Bytes& b) { b.resize(kCloseAt - 1); }},
      {R::kRecordSize, kCloseAt + 4,
       [](Bytes& b) { std::fill(b.begin() + kCloseAt, b.end(), std::uint8_t{0}); }},
      {R::kRecordSize, kLoadAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 4, 16); }},
      {R::kRecordId, kDebugAt, [](Bytes& b) { put<std::uint32_t>(b, kDebugAt, 5); }},
      {R::kRecordTime, kLoadAt + 8, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, 0); }},
      {R::kRecordTime, kLoadAt + 8, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, 1'000'000); }},
      {R::kRecordTime, kLoadAt + 8,
       [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 8, std::uint64_t{1} << 50); }},
      {R::kRecordTime, kCloseAt + 8,
       [](Bytes& b) { add<std::uint64_t>(b, kCloseAt + 8, std::uint64_t{0} - (1u << 30)); }},
      {R::kGroupTwice, kDebugAt, [](Bytes& b) { repeat(b, kDebugAt, kUnwindAt, kDebugAt); }},
      {R::kGroupTwice, kUnwindAt, [](Bytes& b) { repeat(b, kUnwindAt, kLoadAt, kUnwindAt); }},
      {R::kGroupOrphan, kCloseAt, [](Bytes& b) { repeat(b, kDebugAt, kUnwindAt, kCloseAt); }},
      {R::kGroupOrphan, kUnwindAt, [](Bytes& b) { erase(b, kLoadAt, b.size()); }},
      {R::kGroupStranger, kDebugAt,
       [](Bytes& b) {
         add<std::uint64_t>(b, kDebugAt + 16, 64);
         for (std::size_t row = 0; row < 7; ++row) add<std::uint64_t>(b, kRowsAt + 24 * row, 64);
       }},
      {R::kLoadSize, kLoadAt + 4, [](Bytes& b) { insert(b, kLoadAt, kCloseAt, Bytes(8)); }},
      {R::kLoadSize, kLoadAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 4, 40); }},
      {R::kLoadPid, kLoadAt + 16, [](Bytes& b) { add<std::uint32_t>(b, kLoadAt + 16, 1); }},
      {R::kLoadTid, kLoadAt + 20, [](Bytes& b) { put<std::uint32_t>(b, kLoadAt + 20, 0); }},
      {R::kLoadVma, kLoadAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 24, 0); }},
      {R::kLoadAddress, kLoadAt + 32, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 32, 0); }},
      {R::kLoadCodeSize, kLoadAt + 40,
       [](Bytes& b) {
         erase(b, kCodeAt, kCloseAt);
         add<std::uint32_t>(b, kLoadAt + 4, static_cast<std::uint32_t>(-44));
         put<std::uint64_t>(b, kLoadAt + 40, 0);
       }},
      {R::kLoadIndex, kLoadAt + 48, [](Bytes& b) { put<std::uint64_t>(b, kLoadAt + 48, 0); }},
      {R::kLoadIndex, kCloseAt + 48, [](Bytes& b) { repeat(b, kLoadAt, kCloseAt, kCloseAt); }},
      {R::kLoadName, kNameAt, [](Bytes& b) { b[kNameAt + 3] = '\n'; }},
      {R::kLoadName, kNameAt, [](Bytes& b) { insert(b, kLoadAt, kNameAt, Bytes(5000, 'x')); }},
      {R::kLoadName, kNameAt,
       [](Bytes& b) { std::fill(b.begin() + kNameAt, b.begin() + kCloseAt, std::uint8_t{'x'}); }},
      {R::kLoadName, kNameAt,
       [](Bytes& b) {
         erase(b, kNameAt, kNameAt + 10);
         add<std::uint32_t>(b, kLoadAt + 4, static_cast<std::uint32_t>(-10));
       }},
      {R::kLoadOverlap, kCloseAt,
       [](Bytes& b) {
         repeat(b, kLoadAt, kCloseAt, kCloseAt);
         add<std::uint64_t>(b, kCloseAt + 48, 1);
         for (const std::size_t field : {24u, 32u}) add<std::uint64_t>(b, kCloseAt + field, 0x40);
       }},
      {R::kMove, kCloseAt,
       [](Bytes& b) {
         Bytes move(64);
         put<std::uint32_t>(move, 0, 1);
         put<std::uint32_t>(move, 4, 64);
         b.insert(b.begin() + kCloseAt, move.begin(), move.end());
       }},
      {R::kDebugSize, kDebugAt + 4, [](Bytes& b) { insert(b, kDebugAt, kUnwindAt, Bytes(8)); }},
      {R::kDebugCount, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, 8); }},
      {R::kDebugCount, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, UINT64_MAX); }},
      {R::kDebugEmpty, kDebugAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kDebugAt + 24, 0); }},
      {R::kDebugAddress, kDebugAt + 16, [](Bytes& b) { add<std::uint64_t>(b, kDebugAt + 16, 1); }},
      {R::kDebugName, kRowsAt + 24 + 16, [](Bytes& b) { b[kRowsAt + 24 + 16] = '\t'; }},
      {R::kDebugSize, kDebugAt + 4, [](Bytes& b) { b[kRowsAt + 24 + 18] = 0; }},
      {R::kDebugName, kRowsAt + 24 + 16,
       [](Bytes& b) {
         erase(b, kRowsAt + 24 + 16, kRowsAt + 24 + 22);
         b[kRowsAt + 24 + 16] = 0xFF;
         add<std::uint32_t>(b, kDebugAt + 4, static_cast<std::uint32_t>(-6));
       }},
      {R::kDebugLine, kRowsAt + 8, [](Bytes& b) { put<std::int32_t>(b, kRowsAt + 8, -1); }},
      {R::kDebugFirst, kRowsAt, [](Bytes& b) { add<std::uint64_t>(b, kRowsAt, 1); }},
      {R::kDebugOrder, kRowsAt + 48,
       [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 48, std::uint64_t{0} - 5); }},
      {R::kDebugRange, kRowsAt + 48, [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 48, 0x40); }},
      {R::kDebugSentinel, kRowsAt + 144,
       [](Bytes& b) { add<std::uint64_t>(b, kRowsAt + 144, std::uint64_t{0} - 1); }},
      {R::kUnwindSize, kUnwindAt + 16, [](Bytes& b) { insert(b, kUnwindAt, kLoadAt, Bytes(4)); }},
      {R::kUnwindSize, kUnwindAt + 16, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 16, UINT64_MAX); }},
      {R::kUnwindHdrSize, kUnwindAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 24, 0); }},
      {R::kUnwindHdrSize, kUnwindAt + 24, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 24, 85); }},
      {R::kUnwindMapped, kUnwindAt + 32, [](Bytes& b) { put<std::uint64_t>(b, kUnwindAt + 32, 8); }},
      {R::kUnwindOrder, kBlobAt,
       [](Bytes& b) { std::rotate(b.begin() + kBlobAt, b.begin() + kHdrAt, b.begin() + kLoadAt); }},
      {R::kUnwindAlign, kUnwindAt + 16,
       [](Bytes& b) {
         insert(b, kUnwindAt, kHdrAt, Bytes(4));
         add<std::uint64_t>(b, kUnwindAt + 16, 4);
       }},
      {R::kEhEntry, kFdeAt, [](Bytes& b) { put<std::uint32_t>(b, kFdeAt, 40); }},
      {R::kEhEntry, kBlobAt, [](Bytes& b) { put<std::uint32_t>(b, kBlobAt, 0); }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 8] = 4; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 10] = 'P'; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 13] = 0x7C; }},
      {R::kCie, kBlobAt + 8, [](Bytes& b) { b[kBlobAt + 16] = 0x03; }},
      {R::kFde, kFdeAt + 4, [](Bytes& b) { put<std::uint32_t>(b, kFdeAt + 4, 20); }},
      {R::kFde, kFdeAt + 16, [](Bytes& b) { b[kFdeAt + 16] = 1; }},
      {R::kFdeBegin, kFdeAt + 8, [](Bytes& b) { add<std::int32_t>(b, kFdeAt + 8, 4); }},
      {R::kFdeRange, kFdeAt + 12, [](Bytes& b) { add<std::int32_t>(b, kFdeAt + 12, -1); }},
      {R::kCfiOpcode, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt] = 0x3F; }},
      {R::kCfiOperand, kFdeOpsAt + 0x15, [](Bytes& b) { b[kFdeOpsAt + 0x16] = 0x80; }},
      {R::kCfiOperand, kFdeOpsAt + 8, [](Bytes& b) { b[kFdeOpsAt + 8] = 0x80 | 17; }},
      {R::kCfiAdvance, kFdeOpsAt + 14, [](Bytes& b) { b[kFdeOpsAt + 14] = 0x40 | 60; }},
      {R::kCfiState, kFdeOpsAt + 5, [](Bytes& b) { b[kFdeOpsAt + 5] = 0x0B; }},
      {R::kCfiCfa, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt + 2] = 0x0C; }},
      {R::kCfiEntry, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt] = 0x00; }},
      {R::kCfiReturn, kFdeOpsAt, [](Bytes& b) { b[kBlobAt + 21] = 2; }},
      {R::kCfiSaved, kFdeOpsAt, [](Bytes& b) { b[kFdeOpsAt + 9] = 2; }},
      {R::kHdrEncoding, kHdrAt, [](Bytes& b) { b[kHdrAt + 3] = 0xFF; }},
      {R::kHdrPointer, kHdrAt + 4, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 4, 4); }},
      {R::kHdrCount, kHdrAt + 8, [](Bytes& b) { put<std::uint32_t>(b, kHdrAt + 8, 0); }},
      {R::kHdrStart, kHdrAt + 12, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 12, -4); }},
      {R::kHdrFde, kHdrAt + 16, [](Bytes& b) { add<std::int32_t>(b, kHdrAt + 16, 4); }},
      {R::kHdrOrder, kHdrAt + 20,
       [](Bytes& b) {
         describe_by_two(b);
         std::rotate(b.begin() + kHdrAt + 12, b.begin() + kHdrAt + 20, b.begin() + kHdrAt + 28);
       }},
      {R::kCloseSize, kCloseAt + 4, [](Bytes& b) { insert(b, kCloseAt, b.size(), Bytes(8)); }},
      {R::kCloseLast, kCloseAt + 16, [](Bytes& b) { repeat(b, kLoadAt, kCloseAt, b.size()); }},
  };
  return all;
}

}  // namespace
}  // namespace jitdump_reader
