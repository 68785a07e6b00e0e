#include "writer/perfmap/sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/unit/writer/failing_new.hpp"
#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill {
namespace {

constexpr Origin kOrigin{4711, 99};
constexpr std::uint8_t kCode[] = {0x90, 0x90, 0xC3};
constexpr const char* kName = "perf-4711.map";

CodeLoad function(std::uint64_t address, std::string_view name = "fun") {
  CodeLoad load;
  load.address = address;
  load.bytes = kCode;
  load.name = name;
  load.file = "/src/file.nib";  // would be a part of the name
  return load;
}

class PerfmapSink : public testing::Test {
 protected:
  Status begin(Folder* one, Folder* other) { return sink->begin(kOrigin, {files, nullptr, {one, other}}); }

  TemporaryFolder files;  // where a map goes only if it is asked for
  TemporaryFolder first;
  TemporaryFolder second;
  std::unique_ptr<Sink> sink{make_perfmap_sink()};
  Written written;
};

TEST_F(PerfmapSink, EachFunctionIsALineAtOnce) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  EXPECT_EQ(files.read(kName), "");
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kOk);
  EXPECT_EQ(files.read(kName), "1000 3 fun\n");
  EXPECT_EQ(written.bytes, 11u);
  EXPECT_FALSE(written.name_changed);
  EXPECT_EQ(sink->load(function(0x1000, "new\nname"), written), Status::kOk);
  EXPECT_EQ(files.read(kName), "1000 3 fun\n1000 3 new?name\n");
  EXPECT_TRUE(written.name_changed);
}

TEST_F(PerfmapSink, LeavesItsNameToAnotherWhereItHasNoLineYet) {
  first.is_shared = true;
  ASSERT_EQ(begin(&first, &second), Status::kOk);
  sink->leave();
  EXPECT_FALSE(first.has(kName));
  EXPECT_TRUE(second.has(kName));
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kOk);  // the exec failed
  EXPECT_EQ(first.read(kName), "1000 3 fun\n");
  EXPECT_EQ(second.read(kName), "1000 3 fun\n");
  sink->leave();
  EXPECT_EQ(first.read(kName), "1000 3 fun\n");
}

TEST_F(PerfmapSink, AMoveIsALineAtTheNewPlaceAndAnUnloadIsNone) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  CodeMove move;
  move.from = 0x1000;
  move.to = 0x2000;
  move.size = 3;
  move.name = "fun";
  EXPECT_EQ(sink->move(move, written), Status::kOk);
  EXPECT_EQ(written.bytes, 11u);
  EXPECT_EQ(sink->unload({1, 0, 0x2000, 3}), Status::kOk);
  EXPECT_EQ(files.read(kName), "2000 3 fun\n");
}

TEST_F(PerfmapSink, GoesIntoBothPlacesAndCountsBoth) {
  ASSERT_EQ(begin(&first, &second), Status::kOk);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kOk);
  EXPECT_EQ(first.read(kName), "1000 3 fun\n");
  EXPECT_EQ(second.read(kName), "1000 3 fun\n");
  EXPECT_EQ(written.bytes, 22u);
  EXPECT_FALSE(std::filesystem::exists(files.path / kName));
}

TEST_F(PerfmapSink, GoesOnWithThePlaceThatCanBeMade) {
  first.error = EACCES;
  ASSERT_EQ(begin(&first, &second), Status::kOneMapOnly);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kOk);
  EXPECT_EQ(second.read(kName), "1000 3 fun\n");
  EXPECT_EQ(written.bytes, 11u);
}

TEST_F(PerfmapSink, GoesOnWithThePlaceThatHasRoomAndSaysSoOnce) {
  first.device = "/dev/full";
  ASSERT_EQ(begin(&first, &second), Status::kOk);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kNoSpace);
  EXPECT_EQ(sink->load(function(0x2000), written), Status::kOk);
  EXPECT_EQ(second.read(kName), "1000 3 fun\n2000 3 fun\n");
  EXPECT_EQ(written.bytes, 22u);
}

// Whoever holds it decides when it has failed often enough.
TEST_F(PerfmapSink, KeepsItsOnlyPlaceThoughThatIsFull) {
  files.device = "/dev/full";
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sink->load(function(0x1000), written), Status::kNoSpace);
  EXPECT_EQ(written.bytes, 0u);
}

TEST_F(PerfmapSink, TellsWhyThereIsNoFile) {
  EXPECT_EQ(begin(nullptr, nullptr), Status::kNoOutput);
  files.error = EACCES;
  EXPECT_EQ(sink->begin(kOrigin, files), Status::kNoOutput);
  files.error = ENOSPC;
  EXPECT_EQ(sink->begin(kOrigin, files), Status::kNoSpace);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kWriteFailed);
}

TEST_F(PerfmapSink, RefusesEmptyCode) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  CodeLoad empty = function(0x1000);
  empty.bytes = {};
  EXPECT_EQ(sink->load(empty, written), Status::kEmptyCode);
  EXPECT_EQ(files.read(kName), "");
  EXPECT_EQ(written.bytes, 0u);
}

TEST_F(PerfmapSink, WithoutMemoryALineIsRefusedAndTheNextIsWritten) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  {
    const tests::NoMemoryHere none;
    EXPECT_EQ(sink->load(function(0x1000), written), Status::kNoMemory);
  }
  EXPECT_EQ(sink->load(function(0x2000), written), Status::kOk);
  EXPECT_EQ(files.read(kName), "2000 3 fun\n");
}

// A folder may hand out a file of this process again, after a stop and a start.
TEST_F(PerfmapSink, ContinuesAFileThatHasLines) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kOk);
  EXPECT_EQ(sink->end(5), Status::kOk);
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kWriteFailed);
  TemporaryFolder again;
  const std::string file = (files.path / kName).string();
  again.device = file.c_str();
  ASSERT_EQ(sink->begin(kOrigin, again), Status::kOk);
  EXPECT_EQ(sink->load(function(0x2000), written), Status::kOk);
  EXPECT_EQ(files.read(kName), "1000 3 fun\n2000 3 fun\n");
}

TEST_F(PerfmapSink, AChildLeavesItsParentsFileAlone) {
  ASSERT_EQ(sink->begin(kOrigin, files), Status::kOk);
  EXPECT_FALSE(sink->is_in_memory());
  sink->abandon();
  EXPECT_EQ(sink->load(function(0x1000), written), Status::kWriteFailed);
  EXPECT_EQ(files.read(kName), "");
}

TEST(PerfmapRow, IsWrittenAtOnce) {
  const auto row = std::ranges::find(sink_rows(), "perfmap", &SinkRow::name);
  ASSERT_NE(row, sink_rows().end());
  EXPECT_TRUE(row->at_once);
}

}  // namespace
}  // namespace jitquill
