#include "writer/sink/sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "tests/unit/writer/temporary_folder.hpp"
#include "writer/jitdump/sink.hpp"

namespace jitquill {
namespace {

// Executable mappings of a file of that name in this process.
std::size_t markers(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(" r-xp 00000000 ") != std::string::npos && line.ends_with(name) ? 1 : 0;
  }
  return count;
}

constexpr Origin kOrigin{4711, 99};
constexpr std::uint8_t kCode[] = {0xC3};

CodeLoad function(std::uint64_t id) {
  CodeLoad load;
  load.id = id;
  load.index = id;
  load.address = 0x1000 * id;
  load.bytes = kCode;
  load.name = "f";
  return load;
}

class JitdumpSink : public testing::Test {
 protected:
  std::string marker_path() const { return (folder.path / "jit-4711.dump").string(); }
  TemporaryFolder folder;
  std::unique_ptr<Sink> sink{make_jitdump_sink()};
  Written written;
};

TEST_F(JitdumpSink, FileIsNamedByThePidAndIsMarkedOnceItHasItsHeader) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40u);
  EXPECT_EQ(markers(marker_path()), 1u);
}

TEST_F(JitdumpSink, FileIsWholeAfterEachLoad) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  constexpr std::size_t kGroup = 56 + 2 + 1;
  for (std::uint64_t index = 1; index <= 3; ++index) {
    written = {};
    EXPECT_EQ(sink->load(function(index), written), Status::kOk);
    EXPECT_EQ(written.bytes, kGroup);
    const std::string file = folder.read("jit-4711.dump");
    ASSERT_EQ(file.size(), 40 + index * kGroup);
    EXPECT_EQ(static_cast<std::uint64_t>(file[40 + (index - 1) * kGroup + 48]), index);
  }
  EXPECT_EQ(sink->unload({101, 0, 0x65000, 1}), Status::kOk);
}

TEST_F(JitdumpSink, WhatIsHeldIsWrittenAtOnceAndIsTheSame) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  for (std::uint64_t index = 1; index <= 3; ++index)
    EXPECT_EQ(sink->load(function(index), written), Status::kOk);
  const std::string one_by_one = folder.read("jit-4711.dump").substr(40);
  written = {};
  sink->hold();
  for (std::uint64_t index = 1; index <= 3; ++index) {
    CodeLoad refused;
    EXPECT_EQ(sink->load(refused, written), Status::kEmptyCode);
    EXPECT_EQ(sink->load(function(index), written), Status::kOk);
  }
  EXPECT_EQ(folder.read("jit-4711.dump").substr(40), one_by_one);
  EXPECT_EQ(sink->release(), Status::kOk);
  EXPECT_EQ(folder.read("jit-4711.dump").substr(40), one_by_one + one_by_one);
  EXPECT_EQ(written.bytes, one_by_one.size());
  EXPECT_EQ(sink->load(function(4), written), Status::kOk);
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40 + one_by_one.size() * 7 / 3);
}

TEST_F(JitdumpSink, EndWritesCloseLastAndLeavesTheMarkerForLateProfilers) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  EXPECT_EQ(sink->end(5), Status::kOk);
  const std::string file = folder.read("jit-4711.dump");
  EXPECT_EQ(file.substr(40), std::string("\3\0\0\0\20\0\0\0\5\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(markers(marker_path()), 1u);
  EXPECT_EQ(sink->load(function(1), written), Status::kWriteFailed);
}

TEST_F(JitdumpSink, AbandonWritesNothing) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  sink->abandon();
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40u);
  EXPECT_EQ(markers(marker_path()), 0u);
  EXPECT_EQ(sink->end(5), Status::kOk);
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40u);
}

TEST_F(JitdumpSink, BeginsAnewInAnotherFolder) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  EXPECT_EQ(sink->load(function(1), written), Status::kOk);
  TemporaryFolder other;
  ASSERT_EQ(sink->begin({1, 2}, other), Status::kOk);
  EXPECT_EQ(sink->load(function(2), written), Status::kOk);
  EXPECT_EQ(other.read("jit-1.dump").size(), 40u + 56 + 2 + 1);
  EXPECT_EQ(markers(marker_path()), 0u);
}

TEST_F(JitdumpSink, WithoutAnExecutableMappingTheFileIsWrittenAllTheSame) {
  folder.flags = O_WRONLY;  // such a file cannot be mapped, as on a noexec file system
  EXPECT_EQ(sink->begin(kOrigin, folder), Status::kNoMarker);
  EXPECT_EQ(sink->load(function(1), written), Status::kOk);
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40u + 59u);
}

TEST_F(JitdumpSink, WithoutAHeaderThereIsNoMarker) {
  folder.device = "/dev/full";
  EXPECT_EQ(sink->begin(kOrigin, folder), Status::kNoSpace);
  EXPECT_EQ(markers("/dev/full"), 0u);
  EXPECT_EQ(sink->load(function(1), written), Status::kWriteFailed);
}

TEST_F(JitdumpSink, TellsWhyThereIsNoFile) {
  folder.error = EACCES;
  EXPECT_EQ(sink->begin(kOrigin, folder), Status::kNoOutput);
  folder.error = ENOSPC;
  EXPECT_EQ(sink->begin(kOrigin, folder), Status::kNoSpace);
}

TEST_F(JitdumpSink, RefusedCodeLeavesTheFileAsItWas) {
  ASSERT_EQ(sink->begin(kOrigin, folder), Status::kOk);
  CodeLoad empty = function(1);
  empty.bytes = {};
  EXPECT_EQ(sink->load(empty, written), Status::kEmptyCode);
  EXPECT_EQ(written.bytes, 0u);
  EXPECT_EQ(folder.read("jit-4711.dump").size(), 40u);
}

TEST(Sinks, HaveNamesOfTheirOwnAndJitdumpIsBuilt) {
  std::set<std::string_view> names;
  for (const SinkRow& row : sink_rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  const auto jitdump = std::ranges::find(sink_rows(), "jitdump", &SinkRow::name);
  ASSERT_NE(jitdump, sink_rows().end());
  EXPECT_TRUE(jitdump->at_once);
  const std::unique_ptr<Sink> made(jitdump->make());
  EXPECT_NE(made, nullptr);
}

// Who announces writes code news at once; run news goes through the drain into a file.
TEST(SinkTable, ARowHasOneMaker) {
  for (const SinkRow& row : sink_rows()) {
    EXPECT_TRUE(row.make == nullptr || row.make_run == nullptr) << row.name;
    EXPECT_TRUE(row.make == nullptr || row.at_once) << row.name;
    EXPECT_EQ(row.make_run != nullptr, row.file[0] != '\0') << row.name;
  }
}

}  // namespace
}  // namespace jitquill
