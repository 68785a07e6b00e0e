// What the intake of ITT emitters makes of their structures, honest and broken.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <random>

#include "agent/base/counters.hpp"
#include "agent/base/safe_text.hpp"
#include "agent/intake/itt/inline_tree.hpp"
#include "agent/intake/itt/line_rows.hpp"
#include "agent/intake/itt/methods.hpp"
#include "agent/intake/itt/report.hpp"
#include "agent/intake/number_table.hpp"
#include "tests/unit/agent/itt_report.hpp"

namespace jitquill::intake::itt {
namespace {

using itt_spelled::kInlined;
using itt_spelled::kV1;
using itt_spelled::kV2;
using itt_spelled::kV3;
using itt_spelled::Structure;
using itt_spelled::Version;

std::uint32_t below(std::mt19937& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(random() % most);
}

std::uint64_t counted_as(Counter counter) {
  return counted(static_cast<std::size_t>(counter));
}

bool read(Report& report, const Structure& structure, const Version& version) {
  Raw raw;
  const Layout layout{version.size, static_cast<std::uint32_t>(version.parent_at),
                      static_cast<std::uint32_t>(version.class_at),
                      static_cast<std::uint32_t>(version.file_at)};
  return raw.read(structure.bytes.data(), layout) && report.read(raw);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(std::span<const Line> lines) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const Line& line : lines) all.emplace_back(line.offset, line.line);
  return all;
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Memory whose second page nobody can read.
class GuardedPage {
 public:
  GuardedPage() {
    void* const memory = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_ = static_cast<char*>(memory);
    mprotect(start_ + kPage, kPage, PROT_NONE);
  }
  ~GuardedPage() { munmap(start_, 2 * kPage); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  char* end() const { return start_ + kPage; }

 private:
  static constexpr std::size_t kPage = 4096;
  char* start_;
};

TEST(IttLines, EndsBecomeStarts) {
  const LineEnd rows[] = {{1, 2}, {12, 4}, {15, 2}};
  Growing<Line> lines;
  ASSERT_TRUE(line_starts(rows, 15, lines));
  EXPECT_EQ(pairs(lines.all()), (Pairs{{0, 2}, {1, 4}, {12, 2}}));
  lines.release();
}

TEST(IttLines, CodeBehindTheLastRowHasNoLine) {
  const LineEnd rows[] = {{4, 7}};
  Growing<Line> lines;
  ASSERT_TRUE(line_starts(rows, 16, lines));
  EXPECT_EQ(pairs(lines.all()), (Pairs{{0, 7}, {4, 0}}));
  lines.release();
}

TEST(IttLines, ATableThatBeginsAtZeroIsOneOfStarts) {
  const LineEnd rows[] = {{0, 2}, {12, 4}, {99, 5}};
  Growing<Line> lines;
  ASSERT_TRUE(line_starts(rows, 15, lines));
  EXPECT_EQ(pairs(lines.all()), (Pairs{{0, 2}, {12, 4}}));
  lines.release();
}

TEST(IttLines, OfStartsAtOneOffsetTheLastHolds) {
  const LineEnd rows[] = {{0, 2}, {0, 3}, {12, 4}, {12, 5}};
  Growing<Line> lines;
  ASSERT_TRUE(line_starts(rows, 15, lines));
  EXPECT_EQ(pairs(lines.all()), (Pairs{{0, 3}, {12, 5}}));
  lines.release();
}

TEST(IttLines, NumbersThatPerfTakesForNegativeAreUnknown) {
  const LineEnd rows[] = {{4, 0x80000000}, {8, 0x7FFFFFFF}};
  Growing<Line> lines;
  ASSERT_TRUE(line_starts(rows, 8, lines));
  EXPECT_EQ(pairs(lines.all()), (Pairs{{0, 0}, {4, 0x7FFFFFFF}}));
  lines.release();
}

TEST(IttLines, RowsThatDescendAreRefused) {
  const LineEnd ends[] = {{8, 2}, {4, 4}};
  const LineEnd starts[] = {{0, 2}, {8, 4}, {4, 5}};
  Growing<Line> lines;
  EXPECT_FALSE(line_starts(ends, 16, lines));
  EXPECT_FALSE(line_starts(starts, 16, lines));
  lines.release();
}

class IttReport : public testing::TestWithParam<Version> {};

TEST_P(IttReport, HasAllThatItsVersionHas) {
  const char code[16] = {};
  const itt_spelled::Method method{77, 5, "run", code, sizeof code, {{4, 10}, {16, 11}}, "Task", "task.src"};
  Report report;
  ASSERT_TRUE(read(report, method.as(GetParam()), GetParam()));
  EXPECT_EQ(report.id, 77u);
  EXPECT_EQ(report.parent, GetParam().parent_at != 0 ? 5u : 0u);
  EXPECT_EQ(report.address, reinterpret_cast<std::uint64_t>(code));
  EXPECT_EQ(report.size, sizeof code);
  EXPECT_EQ(report.name.view(), "Task.run");
  EXPECT_STREQ(report.file.c_str(), "task.src");
  EXPECT_EQ(pairs(report.lines.all()), (Pairs{{0, 10}, {4, 11}}));
}

INSTANTIATE_TEST_SUITE_P(Versions, IttReport, testing::Values(kV1, kV2, kV3, kInlined));

TEST(IttBroken, ANameThatCannotBeReadIsLeftOutAndCounted) {
  const char code[16] = {};
  const GuardedPage page;
  const itt_spelled::Method method{1, 0, page.end(), code, sizeof code, {}, "Task", nullptr};
  const std::uint64_t before = counted_as(Counter::itt_reports_broken);
  Report report;
  ASSERT_TRUE(read(report, method.as(kV2), kV2));
  EXPECT_EQ(report.name.view(), "Task");
  EXPECT_EQ(counted_as(Counter::itt_reports_broken), before + 1);
}

TEST(IttBroken, MoreLinesThanBytesAreLeftOutAndCounted) {
  const char code[16] = {};
  const itt_spelled::Method method{1, 0, "run", code, sizeof code, {{4, 10}}, nullptr, nullptr};
  Structure structure = method.as(kV2);
  structure.put(28, std::uint32_t{0xFFFFFFFF});
  const std::uint64_t before = counted_as(Counter::lines_refused);
  Report report;
  ASSERT_TRUE(read(report, structure, kV2));
  EXPECT_EQ(report.lines.size(), 0u);
  EXPECT_EQ(counted_as(Counter::lines_refused), before + 1);
}

TEST(IttBroken, CodeThatReachesIntoNothingIsRefused) {
  const GuardedPage page;
  Report whole;
  Report broken;
  const itt_spelled::Method method{1, 0, "run", page.end() - 16, 16, {}, nullptr, nullptr};
  const itt_spelled::Method longer{1, 0, "run", page.end() - 16, 17, {}, nullptr, nullptr};
  EXPECT_TRUE(read(whole, method.as(kV2), kV2));
  EXPECT_FALSE(read(broken, longer.as(kV2), kV2));
}

TEST(IttBroken, AStructureThatCannotBeReadIsRefused) {
  const GuardedPage page;
  Raw raw;
  EXPECT_FALSE(raw.read(page.end(), {64, 0, 40, 48}));
  EXPECT_FALSE(raw.read(page.end() - 63, {64, 0, 40, 48}));
  EXPECT_TRUE(raw.read(page.end() - 64, {64, 0, 40, 48}));
  EXPECT_FALSE(raw.read(nullptr, {64, 0, 40, 48}));
}

// Every byte of a report may be anything: what comes out is still a report.
TEST(IttBroken, MutatedReportsStayReports) {
  std::mt19937 random(20231130);
  const GuardedPage page;
  const char code[256] = {};
  const Version versions[] = {kV1, kV2, kV3, kInlined};
  for (int round = 0; round < 20'000; ++round) {
    const itt_spelled::Method method{1, 2, "run", code, sizeof code, {{4, 10}, {9, 12}}, "Task", "task.src"};
    const Version& version = versions[below(random, 4)];
    Structure structure = method.as(version);
    for (unsigned i = below(random, 4); i > 0; --i)
      structure.bytes[below(random, version.size)] = static_cast<std::uint8_t>(below(random, 256));
    if (below(random, 4) == 0) structure.put(8 * (below(random, 8)), page.end() - below(random, 3));
    Report report;
    if (!read(report, structure, version)) continue;
    std::uint32_t last = 0;
    for (const Line& line : report.lines.all()) {
      ASSERT_LT(line.offset, report.size);
      ASSERT_LE(last, line.offset);
      last = line.offset;
    }
    ASSERT_LE(report.name.view().size(), 8192u);
  }
}

TEST(SafeText, ReadsUpToItsEndAndNoFurther) {
  const GuardedPage page;
  char* const text = page.end() - 5;
  std::memcpy(text, "four", 5);
  char to[4096];
  EXPECT_EQ(safe_text(text, to), std::size_t{4});
  EXPECT_STREQ(to, "four");
  text[4] = '!';
  EXPECT_EQ(safe_text(text, to), std::nullopt);
  EXPECT_EQ(safe_text(nullptr, to), std::nullopt);
}

TEST(SafeText, CutsWhatIsTooLong) {
  const std::string text(5000, 'x');
  char to[1000];
  EXPECT_EQ(safe_text(text.c_str(), to), std::size_t{999});
  EXPECT_EQ(std::string(to), text.substr(0, 999));
}

// --- inlined methods ---

constinit char g_code[512] = {};
const std::uint64_t kCode = reinterpret_cast<std::uint64_t>(g_code);

void put(Report& report, std::uint32_t id, std::uint32_t parent, std::uint64_t address, std::uint32_t size,
         const char* name, std::vector<std::array<std::uint32_t, 2>> lines) {
  const itt_spelled::Method method{id,   parent,           name,    reinterpret_cast<const void*>(address),
                                   size, std::move(lines), nullptr, nullptr};
  ASSERT_TRUE(read(report, method.as(kInlined), kInlined));
}

// Who is at `offset`: "c:31 < b:22 < a:10".
std::string stack_at(const Inlining& inlining, std::uint32_t offset) {
  std::uint32_t at = 0;
  for (const InlineRow& row : inlining.rows) {
    if (row.offset <= offset) at = row.position;
  }
  std::string text;
  for (auto i = static_cast<std::int32_t>(at); i >= 0;
       i = inlining.positions[static_cast<std::size_t>(i)].caller) {
    const InlinePosition& position = inlining.positions[static_cast<std::size_t>(i)];
    text +=
        (text.empty() ? "" : " < ") + std::string(position.function) + ":" + std::to_string(position.line);
  }
  return text;
}

class IttInlining : public testing::TestWithParam<std::array<int, 3>> {};

//  [-- c --] [---- d ----]
//  [---- b ----]
//  [--------- a ----------]      in whatever order b, c and d are reported
TEST_P(IttInlining, NestsAsTheIdsSay) {
  InlineTree tree;
  Report a;
  put(a, 1000, 0, kCode, 100, "a", {{20, 10}, {60, 11}, {100, 12}});
  tree.begin(a);
  for (const int which : GetParam()) {
    Report report;
    if (which == 0) put(report, 2000, 1000, kCode + 10, 30, "b", {{10, 21}, {30, 22}});
    if (which == 1) put(report, 3000, 2000, kCode + 20, 10, "c", {{10, 31}});
    if (which == 2) put(report, 2001, 1000, kCode + 50, 50, "d", {});
    EXPECT_TRUE(tree.add(report));
  }
  const Inlining inlining = tree.inlining("a", "a.src");
  EXPECT_EQ(stack_at(inlining, 0), "a:10");
  EXPECT_EQ(stack_at(inlining, 10), "b:21 < a:10");
  EXPECT_EQ(stack_at(inlining, 20), "c:31 < b:22 < a:10");
  EXPECT_EQ(stack_at(inlining, 30), "b:22 < a:10");
  EXPECT_EQ(stack_at(inlining, 40), "a:11");
  EXPECT_EQ(stack_at(inlining, 50), "d:0 < a:11");
  EXPECT_EQ(stack_at(inlining, 99), "d:0 < a:11");
  for (std::size_t i = 1; i < inlining.rows.size(); ++i)
    EXPECT_LT(inlining.rows[i - 1].offset, inlining.rows[i].offset);
  tree.reset();
}

using Order = std::array<int, 3>;
INSTANTIATE_TEST_SUITE_P(Orders, IttInlining,
                         testing::Values(Order{0, 1, 2}, Order{1, 0, 2}, Order{2, 1, 0}, Order{1, 2, 0}));

TEST(IttInlining, WhatCannotBeInsideIsLeftOut) {
  InlineTree tree;
  Report a;
  put(a, 1, 0, kCode, 100, "a", {});
  tree.begin(a);
  Report outside;
  put(outside, 2, 1, kCode + 90, 20, "outside", {});
  EXPECT_FALSE(tree.add(outside));
  Report orphan;
  put(orphan, 3, 99, kCode, 20, "orphan", {});
  EXPECT_TRUE(tree.add(orphan));  // its parent may come later
  Report own_parent;
  put(own_parent, 4, 4, kCode, 20, "circle", {});
  EXPECT_TRUE(tree.add(own_parent));
  EXPECT_EQ(stack_at(tree.inlining("a", nullptr), 5), "a:0");
  tree.reset();
}

TEST(IttInlining, TablesOfStartsGiveEachOffsetOnce) {
  InlineTree tree;
  Report a;
  put(a, 1, 0, kCode, 100, "a", {{0, 10}, {0, 11}, {40, 12}});
  tree.begin(a);
  Report b;
  put(b, 2, 1, kCode + 10, 30, "b", {{0, 20}, {0, 21}, {5, 22}, {5, 23}});
  EXPECT_TRUE(tree.add(b));
  const Inlining inlining = tree.inlining("a", nullptr);
  std::vector<std::uint32_t> offsets;
  for (const InlineRow& row : inlining.rows) offsets.push_back(row.offset);
  EXPECT_EQ(offsets, (std::vector<std::uint32_t>{0, 10, 15, 40}));
  EXPECT_EQ(stack_at(inlining, 0), "a:11");
  EXPECT_EQ(stack_at(inlining, 15), "b:23 < a:11");
  tree.reset();
}

// Ranges and ids of any kind: rows stay ascending, callers stay in front of what they call.
TEST(IttInlining, AnyTreeIsAWellFormedOne) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    InlineTree tree;
    Report root;
    put(root, 1, 0, kCode, 200, "root", {{below(random, 200) + 1, 1}, {200, 2}});
    tree.begin(root);
    for (unsigned i = 0; i < 12; ++i) {
      Report report;
      const std::uint32_t size = below(random, 60) + 1;
      put(report, 2 + below(random, 8), 1 + below(random, 9), kCode + below(random, 220), size, "in",
          {{below(random, size) + 1, 5}});
      (void)tree.add(report);
    }
    const Inlining inlining = tree.inlining("root", nullptr);
    ASSERT_FALSE(inlining.rows.empty());
    ASSERT_EQ(inlining.rows[0].offset, 0u);
    for (std::size_t i = 0; i < inlining.rows.size(); ++i) {
      ASSERT_LT(inlining.rows[i].offset, 200u);
      ASSERT_LT(inlining.rows[i].position, inlining.positions.size());
      if (i > 0) {
        ASSERT_LT(inlining.rows[i - 1].offset, inlining.rows[i].offset);
      }
    }
    for (std::size_t i = 0; i < inlining.positions.size(); ++i)
      ASSERT_LT(inlining.positions[i].caller, static_cast<std::int32_t>(i));
    tree.reset();
  }
}

// --- what is remembered ---

TEST(IttMethods, AnAddressBelongsToTheLastMethodThere) {
  Methods methods;
  Report first;
  Report second;
  put(first, 1, 0, kCode, 16, "first", {});
  put(second, 2, 0, kCode, 16, "second", {});
  Method* const one = methods.add(first);
  ASSERT_TRUE(one != nullptr && methods.add_region(*one, {0x1000, 16}) &&
              methods.add_region(*one, {0x2000, 16}));
  Method* const two = methods.add(second);
  ASSERT_TRUE(two != nullptr && methods.add_region(*two, {0x1000, 16}));
  EXPECT_EQ(methods.find_by_address(0x100F), two);
  EXPECT_EQ(methods.find_by_address(0x1010), nullptr);
  EXPECT_EQ(methods.find_by_address(0x2001), one);

  std::vector<std::uint64_t> ended;
  methods.remove(*one, [&](std::uint64_t address) { ended.push_back(address); });
  EXPECT_EQ(ended, std::vector<std::uint64_t>{0x2000});
  EXPECT_EQ(methods.find(1), nullptr);
  EXPECT_EQ(methods.find(2), two);
  methods.remove(*two, [](std::uint64_t) {});
}

TEST(NumberTable, IsAMap) {
  std::mt19937 random(3);
  NumberTable<int> table;
  std::map<std::uint64_t, int*> truth;
  static int values[16];
  for (int round = 0; round < 50'000; ++round) {
    const std::uint64_t number = 16 * (below(random, 400) + 1);
    if (below(random, 3) == 0) {
      table.erase(number);
      truth.erase(number);
    } else {
      int* const value = &values[below(random, 16)];
      ASSERT_TRUE(table.put(number, value));
      truth[number] = value;
    }
    ASSERT_EQ(table.size(), truth.size());
    const std::uint64_t other = 16 * (below(random, 400) + 1);
    ASSERT_EQ(table.find(other), truth.count(other) != 0 ? truth[other] : nullptr);
  }
  for (const auto& [number, value] : truth) ASSERT_EQ(table.find(number), value);
  table.release();
}

}  // namespace
}  // namespace jitquill::intake::itt
