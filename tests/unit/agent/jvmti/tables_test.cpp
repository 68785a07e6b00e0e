// From a VM's words about compiled code to source lines and inlined calls.
#include "agent/intake/jvmti/tables.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/agent/jvmti/compile_info.hpp"
#include "tests/unit/agent/jvmti/model_vm.hpp"

namespace jitquill::intake::jvmti {
namespace {

using Rows = std::vector<std::string>;  // "offset line file"

class Tables : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(vm_.not_given_back(), 0); }

  Rows lines(const CompiledMethod& compiled) {
    Rows rows;
    for (const Line& line : lines_of(stretches_of(compiled, scratch_), methods_, scratch_)) {
      rows.push_back(std::to_string(line.offset) + " " + std::to_string(line.line) + " " +
                     (line.file == nullptr ? "-" : line.file));
    }
    return rows;
  }
  Inlining inlining(const CompiledMethod& compiled) {
    return inlining_of(stretches_of(compiled, scratch_), methods_, scratch_);
  }

  ModelVm vm_;
  Scratch scratch_;
  Methods methods_{vm_.env(), scratch_};
  const MethodId outer_ = vm_.add({"Lpkg/Outer;", "run", "()V", "Outer.java", {{0, 10}, {5, 11}, {20, 12}}});
  const MethodId inner_ = vm_.add({"Lpkg/sub/Inner$1;", "get", "(I)I", "Inner.java", {{3, 31}, {0, 30}}});
};

TEST_F(Tables, ARecordIsOfTheCodeInFrontOfItsAddress) {
  const CompileInfo info({{8, {{outer_, 0}}}, {20, {{outer_, 7}}}, {40, {{outer_, 20}}}});
  EXPECT_EQ(lines(info.compiled(outer_, 64)),
            (Rows{"0 10 pkg/Outer.java", "8 11 pkg/Outer.java", "20 12 pkg/Outer.java"}));
}

TEST_F(Tables, AMapIsOfTheCodeBehindItsAddress) {
  const CompileInfo none({});
  const std::vector<CodeStart> map = {{none.at(4), 0}, {none.at(10), 5}, {none.at(12), 6}};
  CompiledMethod compiled = none.compiled(outer_, 64);
  compiled.map = map.data();
  compiled.map_length = 3;
  EXPECT_EQ(lines(compiled), (Rows{"4 10 pkg/Outer.java", "10 11 pkg/Outer.java"}));
}

TEST_F(Tables, InlinedCodeHasTheLineAndFileOfTheInnermost) {
  const CompileInfo info({{8, {{outer_, 5}}}, {20, {{inner_, 4}, {outer_, 5}}}, {30, {{outer_, 5}}}});
  EXPECT_EQ(lines(info.compiled(outer_, 64)),
            (Rows{"0 11 pkg/Outer.java", "8 31 pkg/sub/Inner.java", "20 11 pkg/Outer.java"}));
}

TEST_F(Tables, CodeInFrontOfTheFirstBytecodeHasTheFirstLine) {
  const CompileInfo info({{8, {{inner_, -1}}}});
  EXPECT_EQ(lines(info.compiled(inner_, 64)), (Rows{"0 30 pkg/sub/Inner.java"}));
}

TEST_F(Tables, NothingIsKnownWithoutATableOfLines) {
  const MethodId native = vm_.add({"Lpkg/N;", "call", "()V", "", {}});
  const CompileInfo info({{8, {{native, 0}}}});
  EXPECT_EQ(lines(info.compiled(native, 64)), Rows{});
  EXPECT_STREQ(methods_.find(native)->file, "pkg/N.class");
}

TEST_F(Tables, AMethodIsAskedForOnce) {
  const CompileInfo info(
      {{8, {{inner_, 0}, {outer_, 0}}}, {9, {{inner_, 3}, {outer_, 0}}}, {12, {{outer_, 5}}}});
  (void)lines(info.compiled(outer_, 64));
  (void)inlining(info.compiled(outer_, 64));
  EXPECT_EQ(vm_.asked_names(), 2);
}

TEST_F(Tables, AMethodThatTheVmDisownsHasNoLine) {
  const int stranger = 0;
  const CompileInfo info({{8, {{&stranger, 0}, {outer_, 0}}}, {12, {{outer_, 5}}}});
  EXPECT_EQ(lines(info.compiled(outer_, 64)), (Rows{"0 0 -", "8 11 pkg/Outer.java"}));
  EXPECT_STREQ(inlining(info.compiled(outer_, 64)).positions[1].function, "?");
}

TEST_F(Tables, CallsThatWereInlinedFormATree) {
  const CompileInfo info({{8, {{inner_, 0}, {outer_, 5}}},
                          {12, {{inner_, 3}, {outer_, 5}}},
                          {16, {{outer_, 5}}},
                          {20, {{inner_, 0}, {inner_, 3}, {outer_, 5}}},
                          {24, {{inner_, 0}, {outer_, 20}}}});
  const Inlining found = inlining(info.compiled(outer_, 64));
  Rows positions;
  for (const InlinePosition& p : found.positions) {
    positions.push_back(std::to_string(p.caller) + " " + p.function + " " + std::to_string(p.line) + " of " +
                        std::to_string(p.function_line) + " " + p.file);
  }
  EXPECT_EQ(positions, (Rows{"-1 pkg.Outer.run() 11 of 10 pkg/Outer.java",
                             "0 pkg.sub.Inner$1.get(int) 30 of 30 pkg/sub/Inner.java",
                             "0 pkg.sub.Inner$1.get(int) 31 of 30 pkg/sub/Inner.java",
                             "2 pkg.sub.Inner$1.get(int) 30 of 30 pkg/sub/Inner.java",
                             "-1 pkg.Outer.run() 12 of 10 pkg/Outer.java",
                             "4 pkg.sub.Inner$1.get(int) 30 of 30 pkg/sub/Inner.java"}));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
  for (const InlineRow& row : found.rows) rows.emplace_back(row.offset, row.position);
  EXPECT_EQ(rows, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                      {0, 1}, {8, 2}, {12, 0}, {16, 3}, {20, 5}}));
}

TEST_F(Tables, NoTreeWhereNothingWasInlined) {
  const CompileInfo info({{8, {{outer_, 5}}}});
  EXPECT_TRUE(inlining(info.compiled(outer_, 64)).rows.empty());
}

TEST_F(Tables, NoTreeAboveItsBound) {
  ModelVm::Method many{"LBig;", "big", "()V", "Big.java", {}};
  for (int i = 0; i < 9000; ++i) many.line_starts.emplace_back(i, i + 1);
  const MethodId big = vm_.add(many);
  std::vector<CompileInfo::Place> places;
  for (int i = 0; i < 9000; ++i)
    places.push_back({static_cast<std::uint32_t>(i + 1), {{big, i}, {outer_, 0}}});
  const CompileInfo info(places);
  EXPECT_EQ(lines(info.compiled(outer_, 10000)).size(), 9000u);
  EXPECT_TRUE(inlining(info.compiled(outer_, 10000)).rows.empty());
}

}  // namespace
}  // namespace jitquill::intake::jvmti
