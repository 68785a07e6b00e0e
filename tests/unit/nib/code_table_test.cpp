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

TEST(CodeTable, FindsTheLastRowAtOrBelowAnAddress) {
  CodeTable table;
  add(table, 0x3000, 0x100, "late", {{0, 7, 0, 0, nullptr}, {0x10, 8, 0, 0, nullptr}});
  add(table, 0x1000, 0x20, "early", {{4, 1, 0, 0, nullptr}});
  EXPECT_EQ(*table.find(0x3000).function, "late");
  EXPECT_EQ(table.find(0x300F).line, 7u);
  EXPECT_EQ(table.find(0x3010).line, 8u);
  EXPECT_EQ(table.find(0x30FF).line, 8u);
  EXPECT_EQ(*table.find(0x1003).function, "early");
  EXPECT_EQ(table.find(0x1003).line, 0u);  // before the first row
}

TEST(CodeTable, KnowsNothingOutsideOfFunctions) {
  CodeTable table;
  EXPECT_EQ(table.find(0x1000).function, nullptr);
  add(table, 0x1000, 0x20, "f", {});
  for (const std::uintptr_t outside : {0xFFFu, 0x1020u, 0x5000u})
    EXPECT_EQ(table.find(outside).function, nullptr) << outside;
  EXPECT_EQ(table.find(0x101F).line, 0u);
}

}  // namespace
}  // namespace nib::test
