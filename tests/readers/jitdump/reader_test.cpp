// The strict reader finds what the sample holds, and what variants of it hold.
#include "tests/readers/jitdump/reader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/readers/jitdump/edited_sample.hpp"

namespace jitdump_reader {
namespace {

Expectations strictly() {
  Expectations expectations;
  expectations.pid = kSamplePid;
  return expectations;
}

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

TEST(JitdumpReader, TakesATwinForAPartOfItsFunction) {
  Bytes bytes = sample();
  give_twin(bytes);
  Expectations expectations = strictly();
  expectations.nothing_freed = true;
  const Dump dump = read(bytes, expectations);
  EXPECT_EQ(describe(dump.violations), "");
  ASSERT_EQ(dump.functions.size(), 1u);
  EXPECT_EQ(dump.functions[0].address, kSampleAddress);
  EXPECT_EQ(dump.functions[0].twin, kSampleAddress - kTwinDistance);
  EXPECT_EQ(dump.functions[0].lines.size(), 7u);
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

}  // namespace
}  // namespace jitdump_reader
