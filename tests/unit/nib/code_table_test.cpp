#include "nib/code_table.hpp"

#include <gtest/gtest.h>

namespace nib::test {
namespace {

void add(CodeTable& table, std::uintptr_t start, std::size_t size, const char* name,
         const std::vector<jitquill_line>& lines) {
  jitquill_code code = {};
  code.addr = reinterpret_cast<const void*>(start);
  code.size = size;
  code.name = name;
  code.lines = lines.data();
  code.line_count = lines.size();
  table.add(code);
}

std::string found(const CodeTable& table, std::uintptr_t address) {
  std::vector<CodeTable::Place> places;
  table.find(address, places);
  std::string text;
  for (const CodeTable::Place& each : places) text += *each.function + ":" + std::to_string(each.line) + " ";
  return text;
}

TEST(CodeTable, FindsTheLastRowAtOrBelowAnAddress) {
  CodeTable table;
  add(table, 0x3000, 0x100, "late", {{0, 7, 0, 0, nullptr}, {0x10, 8, 0, 0, nullptr}});
  add(table, 0x1000, 0x20, "early", {{4, 1, 0, 0, nullptr}});
  EXPECT_EQ(found(table, 0x3000), "late:7 ");
  EXPECT_EQ(found(table, 0x300F), "late:7 ");
  EXPECT_EQ(found(table, 0x3010), "late:8 ");
  EXPECT_EQ(found(table, 0x30FF), "late:8 ");
  EXPECT_EQ(found(table, 0x1003), "early:0 ");  // before the first row
}

TEST(CodeTable, KnowsNothingOutsideOfFunctions) {
  CodeTable table;
  EXPECT_EQ(found(table, 0x1000), "");
  add(table, 0x1000, 0x20, "f", {});
  for (const std::uintptr_t outside : {0xFFFu, 0x1020u, 0x5000u})
    EXPECT_EQ(found(table, outside), "") << outside;
  EXPECT_EQ(found(table, 0x101F), "f:0 ");
}

TEST(CodeTable, FollowsCodeThatMovesAndGoes) {
  CodeTable table;
  add(table, 0x1000, 0x20, "f", {{0, 3, 0, 0, nullptr}});
  table.move(reinterpret_cast<const void*>(0x1000), reinterpret_cast<const void*>(0x800));
  EXPECT_EQ(found(table, 0x1001), "");
  EXPECT_EQ(found(table, 0x801), "f:3 ");
  table.remove(reinterpret_cast<const void*>(0x800));
  EXPECT_EQ(found(table, 0x801), "");
  EXPECT_TRUE(table.empty());
}

TEST(CodeTable, NamesWhatWasInlinedFirst) {
  CodeTable table;
  const jitquill_inline_position positions[] = {
      {-1, 1, 0, 1, 0, 0, "f", nullptr}, {0, 2, 0, 7, 0, 0, "g", nullptr}, {1, 8, 0, 9, 0, 0, "h", nullptr}};
  const jitquill_inline_row rows[] = {{0, 0}, {8, 2}, {12, 1}};
  const jitquill_line lines[] = {{0, 1, 0, 0, nullptr}, {8, 8, 0, 0, nullptr}, {12, 3, 0, 0, nullptr}};
  jitquill_code code = {};
  code.addr = reinterpret_cast<const void*>(0x1000);
  code.size = 16;
  code.name = "f";
  code.lines = lines;
  code.line_count = 3;
  code.inline_positions = positions;
  code.inline_position_count = 3;
  code.inline_rows = rows;
  code.inline_row_count = 3;
  table.add(code);
  EXPECT_EQ(found(table, 0x1000), "f:1 ");
  EXPECT_EQ(found(table, 0x1008), "h:8 g:2 f:1 ");
  EXPECT_EQ(found(table, 0x100F), "g:3 f:1 ");
}

}  // namespace
}  // namespace nib::test
