// show, check and recover on whole, broken and foreign files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/hex.hpp"
#include "tests/host/cli/cli.hpp"
#include "tests/readers/jitdump/edited_sample.hpp"
#include "tests/readers/oprofile/examples.hpp"

namespace cli_test {
namespace {

namespace examples = oprofile_reader::examples;
namespace fs = std::filesystem;
using jitdump_reader::Bytes;
using jitquill::tests::from_hex;
using test_support::Ended;
using test_support::TempFolder;

constexpr char kName[] = "jit-13698.dump";  // the sample's process

class CliFiles : public testing::Test {
 protected:
  Ended run(const std::vector<std::string>& words) { return run_jitquill(folder_, words); }
  void write(const std::string& name, const Bytes& bytes) {
    std::ofstream out(folder_.file(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    // From before the boot: its stamps are of another machine.
    fs::last_write_time(folder_.file(name), fs::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
  }
  TempFolder folder_;
};

TEST_F(CliFiles, CheckPassesTheSample) {
  write(kName, jitdump_reader::sample());
  const Ended ended = run({"check", kName});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(ended.out, std::string(kName) + ": 1 function, 0 wrong, 0 notes, closed\n");
}

TEST_F(CliFiles, CheckPassesRealDumps) {
  EXPECT_EQ(run({"run", "-q", "--", "sh", "-c", "for p in " PROGRAMS "/[fms]*.nib; do " DEMO_JIT " $p; done"})
                .exit_code,
            0);
  std::vector<std::string> words = test_support::files_below(folder_.path(), "jit-", ".dump");
  EXPECT_GE(words.size(), 3u);
  words.insert(words.begin(), "check");
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
}

TEST_F(CliFiles, CheckNamesOffsetRuleAndReader) {
  Bytes bytes = jitdump_reader::sample();
  jitdump_reader::put<std::uint32_t>(bytes, 32, 2);
  write(kName, bytes);
  const Ended ended = run({"check", kName});
  EXPECT_EQ(ended.exit_code, 1) << ended.describe();
  EXPECT_NE(ended.out.find(": offset 0x20: header-flags: 0x2 (perf inject: the whole run fails"),
            std::string::npos)
      << ended.out;
}

TEST_F(CliFiles, CheckNamesAFileThatPerfDoesNotLookAt) {
  write("renamed.dump", jitdump_reader::sample());
  const Ended ended = run({"check", "renamed.dump"});
  EXPECT_EQ(ended.exit_code, 1) << ended.describe();
  EXPECT_NE(ended.out.find("file-name: is not jit-<pid>.dump"), std::string::npos) << ended.out;
}

TEST_F(CliFiles, ATailThatWasCutIsCalledThat) {
  Bytes bytes = jitdump_reader::sample();
  bytes.resize(jitdump_reader::kCloseAt - 3);
  write(kName, bytes);
  Ended ended = run({"check", kName});
  EXPECT_EQ(ended.exit_code, 1) << ended.describe();
  EXPECT_NE(ended.out.find("record-torn: the file ends inside of this record: its process was killed"),
            std::string::npos)
      << ended.out;
  ended = run({"check", "--killed", kName});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_NE(ended.out.find("its last record is cut off"), std::string::npos) << ended.out;
  ended = run({"show", kName});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_NE(ended.out.find("the file ends inside of a record here"), std::string::npos) << ended.out;
}

TEST_F(CliFiles, SayWhoReadsAnOpenJ9Trace) {
  std::ofstream(folder_.file("a.trc")) << "UTTH" << std::string(60, '\0');
  for (const char* const verb : {"show", "check"}) {
    const Ended ended = run({verb, "a.trc"});
    EXPECT_EQ(ended.exit_code, 2) << ended.describe();
    EXPECT_NE(ended.err.find("OpenJ9's traceformat prints"), std::string::npos) << ended.err;
  }
}

TEST_F(CliFiles, CheckSaysWhatItCannotRead) {
  std::ofstream(folder_.file("text")) << "some text\n";
  EXPECT_EQ(run({"check", "text"}).exit_code, 2);
  EXPECT_EQ(run({"check", "missing"}).exit_code, 2);
  EXPECT_EQ(run({"check", "."}).exit_code, 2);
  const Ended device = run({"check", "/dev/zero"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_EQ(device.err,
            "jitquill: /dev/zero: a pipe or a device, and not a file; put its bytes into one first\n");
  write("jit-1.dump", {});
  EXPECT_EQ(run({"check", "jit-1.dump"}).exit_code, 1);  // perf fails at it
}

TEST_F(CliFiles, ShowHasARecordALine) {
  write(kName, jitdump_reader::sample());
  const Ended ended = run({"show", kName});
  EXPECT_EQ(ended.exit_code, 0) << ended.describe();
  EXPECT_EQ(ended.out,
            "jitdump of process 13698, machine 62, made at 1236.753889522, stamps are CLOCK_MONOTONIC\n"
            "0x00000028       1236.753889973 lines  0x7f73ada9c040 7 rows from hot.src:3\n"
            "0x000000f0       1236.753889973 unwind 84 bytes, 20 of them header, 84 mapped\n"
            "0x0000016c       1236.753889973 load   #1 0x7f73ada9c040 44 bytes thread 13698  jitted_hot\n"
            "0x000001db       1236.753895942 close\n");
  EXPECT_EQ(run({"show", "--limit", "1", kName}).out.find("unwind"), std::string::npos);
}

// Of control characters in foreign names the terminal gets none.
TEST_F(CliFiles, ShowSurvivesRandomDamage) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    Bytes bytes = jitdump_reader::sample();
    for (int i = 0; i < 4; ++i) jitdump_reader::mutate(bytes, random);
    write(kName, bytes);
    for (const char* verb : {"show", "check"}) {
      const Ended ended = run({verb, kName});
      EXPECT_GE(ended.exit_code, 0) << seed << ended.describe();
      EXPECT_EQ(ended.out.find('\x1B'), std::string::npos);
    }
  }
}

TEST_F(CliFiles, ShowHasStatisticsInColumnsAndTextsAsTheyAre) {
  std::ofstream(folder_.file("stats")) << "a\t1\tone\nlonger_name\t22\ttwo\n";
  EXPECT_EQ(run({"show", "stats"}).out, "a                      1  one\nlonger_name           22  two\n");
  std::ofstream(folder_.file("perf-1.map")) << "1000 10 f\n2000 20 g\n";
  EXPECT_EQ(run({"show", "perf-1.map"}).out, "1000 10 f\n2000 20 g\n");
  EXPECT_EQ(run({"show", "--limit=1", "perf-1.map"}).out, "1000 10 f\n");
  write("binary", {1, 0, 2});
  EXPECT_EQ(run({"show", "binary"}).exit_code, 2);
}

TEST_F(CliFiles, RecoverFindsNothingToDoForDumps) {
  EXPECT_EQ(run({"run", "-q", "--", DEMO_JIT, program("sieve")}).exit_code, 0);
  for (const char* folder : {"jitquill.data", "jitquill.data/latest"}) {
    const Ended ended = run({"recover", folder});
    EXPECT_EQ(ended.exit_code, 0) << ended.describe();
    EXPECT_NE(ended.out.find("nothing to recover"), std::string::npos) << ended.out;
  }
  EXPECT_EQ(run({"recover", "nowhere"}).exit_code, 2);
}

// As one leaves it that was killed before its last step.
TEST_F(CliFiles, RecoverEndsARemovalThatWasBrokenOff) {
  const fs::path lanes = folder_.file("jitquill-" + std::to_string(geteuid())) + "/4711";
  fs::create_directories(lanes);
  fs::create_directories(folder_.file("out"));
  std::ofstream(lanes / "lock").close();
  fs::create_symlink(lanes, folder_.file("out/lanes"));
  EXPECT_EQ(run({"recover", "out"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(lanes));
  EXPECT_FALSE(fs::is_symlink(folder_.file("out/lanes")));
  fs::create_directories(lanes);
  std::ofstream(lanes / "other").close();
  fs::create_symlink(lanes, folder_.file("out/lanes"));
  EXPECT_NE(run({"recover", "out"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(lanes / "other"));
}

}  // namespace
TEST_F(CliFiles, OfTheOprofileAbiAreShownAndChecked) {
  write("notes", from_hex(examples::kNotesBig8));
  write("base", from_hex(examples::kDatabaseLittle4));
  Bytes cut = from_hex(examples::kSamplesMixed5);
  cut.resize(70);
  write("torn", cut);
  EXPECT_EQ(run({"show", "notes"}).out,
            "0x00000010 map process 4660, 0x12345000 64 bytes, offset 0x0, path 6\n"
            "0x00000040 exit process 4660\n");
  EXPECT_EQ(run({"show", "--limit", "2", "base"}).out,
            "4 pages of 4 entries, 3 in use, root 2\n0x00000034 0x10 10\n0x00000040 0x20 2\n");
  EXPECT_EQ(run({"check", "notes", "base"}).out,
            "notes: 2 records, 0 wrong, 0 notes\nbase: 5 records, 0 wrong, 0 notes\n");
  const Ended torn = run({"check", "torn"});
  EXPECT_EQ(torn.exit_code, 0) << torn.describe();
  EXPECT_NE(torn.out.find("torn: offset 0x44: note: torn ("), torn.out.npos) << torn.out;
}

}  // namespace cli_test
