// Which mappings can hold a JIT's code, and how much of them is known.
#include "agent/life/coverage.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "agent/base/code_memory.hpp"
#include "tests/support/temp_folder.hpp"

namespace jitquill {
namespace {

TEST(CodeRange, IsExecutableAndOfNoFile) {
  for (const char* text : {"7f0000-7f1000 r-xp 00000000 00:00 0 ", "7f0000-7f1000 rwxp 00000000 00:00 0",
                           "7f0000-7f1000 --xp 00000000 00:00 0 ",
                           "7f0000-7f1000 r-xp 00000000 00:00 0                 [anon:js]",
                           "7f0000-7f1000 rwxp 00000000 00:00 0                 [heap]",
                           "7f0000-7f1000 r-xs 00000000 00:01 7                 /memfd:jit (deleted)",
                           "7f0000-7f1000 r-xp 00000000 00:01 7                 /memfd:jit (deleted)",
                           "7f0000-7f1000 rwxs 00000000 00:01 7                 /dev/zero (deleted)",
                           "7f0000-7f1000 rwxp 00000000 00:01 7                 /anon_hugepage (deleted)",
                           "7f0000-7f1000 r-xs 00000000 00:01 7                 /SYSV00000000 (deleted)",
                           "7f0000-7f1000 r-xs 00000000 00:01 7                 /dev/shm/x",
                           "7f0000-7f1000 r-xs 00000000 00:01 7                 /home/a b (deleted)"}) {
    const auto range = code_range(text);
    ASSERT_TRUE(range) << text;
    EXPECT_EQ(range->start, 0x7f0000u);
    EXPECT_EQ(range->end, 0x7f1000u);
  }
}

TEST(CodeRange, IsNotDataNorInAFileNorTheKernels) {
  for (const char* text :
       {"", "7f0000-7f1000", "7f0000-7f1000 rw-p 00000000 00:00 0", "7f0000 7f1000 r-xp 0 0 0",
        "7f0000-7f1000 r-xp 00000000 08:01 99                /usr/bin/node",
        "7f0000-7f1000 r-xp 00000000 08:01 99                /usr/lib/libc.so.6 (deleted)",
        "7f0000-7f1000 r-xp 00000000 00:01 7                 /dev/shm/out/jit-42.dump",
        "7f0000-7f1000 r-xp 00000000 00:00 0                 [vdso]",
        "7f0000-7f1000 --xp 00000000 00:00 0                 [vsyscall]",
        "7f0000-7f1000 rwxp 00000000 00:00 0                 [stack]"})
    EXPECT_FALSE(code_range(text)) << text;
}

TEST(IsDump, GoesByTheName) {
  for (const char* path : {"jit-1.dump", "/a/jit-42.dump", "a/b/jit-007.dump"}) EXPECT_TRUE(is_dump(path));
  for (const char* path :
       {"", "jit-.dump", "jit-1.dump.old", "xjit-1.dump", "/jit-1.dump/a", "jit-1a.dump", "jit-"})
    EXPECT_FALSE(is_dump(path)) << path;
}

TEST(CommonBytes, AreThoseOfBoth) {
  EXPECT_EQ(common_bytes({10, 20}, {15, 30}), 5u);
  EXPECT_EQ(common_bytes({15, 30}, {10, 20}), 5u);
  EXPECT_EQ(common_bytes({10, 40}, {15, 30}), 15u);
  EXPECT_EQ(common_bytes({10, 20}, {20, 30}), 0u);
}

class CoverageOf : public testing::Test {
 protected:
  void TearDown() override { map_.clear(); }
  void add(std::uint64_t address, std::uint64_t size) {
    CodeLoad load;
    load.address = address;
    map_.add(load, {.id = ++last_id_, .size = static_cast<std::uint32_t>(size)}, false);
  }
  Coverage measure(const std::string& maps) {
    std::ofstream(file_) << maps;
    return measure_coverage(file_.c_str(), map_);
  }

  test_support::TempFolder folder_;
  const std::string file_ = folder_.file("maps");
  CodeMap map_;
  std::uint64_t last_id_ = 0;
};

const std::string kNode = "00400000-00b72000 r-xp 00000000 fe:00 247823   /usr/bin/node\n";
const std::string kJit = "7f0000-7f3000 r-xp 00000000 00:00 0 \n";
const std::string kMemfd = "8f0000-8f1000 r-xs 00000000 00:01 7      /memfd:jit (deleted)\n";

TEST_F(CoverageOf, NothingIsNothing) {
  EXPECT_EQ(measure("").code_bytes, 0u);
  const Coverage none = measure_coverage(folder_.file("missing").c_str(), map_);
  EXPECT_EQ(none.code_bytes + none.known_bytes, 0u);
}

TEST_F(CoverageOf, CodeMemoryThatNobodyNamed) {
  const Coverage coverage = measure(kNode + kJit + kMemfd);
  EXPECT_EQ(coverage.code_bytes, 0x4000u);
  EXPECT_EQ(coverage.known_bytes, 0u);
}

TEST_F(CoverageOf, OnlyLiveCodeInsideIsKnown) {
  add(0x500000, 0x100);   // in a file
  add(0x7efff0, 0x20);    // half of it in front of the memory
  add(0x7f1000, 0x300);   // inside
  add(0x7f2ff8, 0x10);    // half of it behind
  add(0x8f0000, 0x1000);  // all of a mapping
  add(0x900000, 0x100);   // its memory is gone
  const Coverage coverage = measure(kNode + kJit + kMemfd);
  EXPECT_EQ(coverage.code_bytes, 0x4000u);
  EXPECT_EQ(coverage.known_bytes, 0x10u + 0x300u + 8u + 0x1000u);
  map_.remove(0x7f1000);
  EXPECT_EQ(measure(kNode + kJit + kMemfd).known_bytes, 0x10u + 8u + 0x1000u);
}

TEST_F(CoverageOf, OneFunctionOverSeveralMappings) {
  add(0x7f0800, 0x2000);
  EXPECT_EQ(measure("7f0000-7f1000 r-xp 0 0:0 0\n7f1000-7f2000 rw-p 0 0:0 0\n7f2000-7f3000 rwxp 0 0:0 0\n")
                .known_bytes,
            0x800u + 0x800u);
}

TEST_F(CoverageOf, WhatWeMadeOurselvesIsNobodysJits) {
  note_own_code({0x6f1000, 0x6f2000});
  EXPECT_EQ(measure("6f0000-6f3000 r-xp 0 0:0 0\n").code_bytes, 0x2000u);
  EXPECT_EQ(measure("6f1800-6f1900 r-xp 0 0:0 0\n").code_bytes, 0u);
  EXPECT_EQ(measure(kMemfd).code_bytes, 0x1000u);
}

TEST_F(CoverageOf, IsReadPieceByPiece) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += kNode;
  EXPECT_EQ(measure(many + kJit).code_bytes, 0x3000u);
  EXPECT_EQ(measure(kNode + std::string(20'000, 'x') + "\n" + kJit).code_bytes, 0x3000u);
}

}  // namespace
}  // namespace jitquill
