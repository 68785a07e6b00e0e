// Which functions a jump may be put over.
#include "agent/intake/symfile/entry_code.hpp"

#include <gtest/gtest.h>

#include "tests/hex.hpp"

namespace {

using jitquill::symfile::EntryCode;
using jitquill::tests::from_hex;

EntryCode read(std::string_view text) {
  return jitquill::symfile::read_entry(from_hex(text));
}

TEST(EntryCode, HasTheRoomUpToTheBorder) {
  // LLVM's, PHP's and Erlang's.
  for (const char* code :
       {"c3 66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00  55 48 89 e5",
        "c3 66 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 40 00  55",
        "c3 90 66 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 00", "c3 cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc",
        "c3 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"}) {
    EXPECT_EQ(read(code).room, 16u) << code;
    EXPECT_EQ(read(code).instructions, 1u) << code;
  }
}

TEST(EntryCode, CountsWhatComesBeforeTheReturn) {
  const EntryCode marked = read("f3 0f 1e fa c3 66 2e 0f 1f 84 00 00 00 00 00 90");
  EXPECT_EQ(marked.room, 16u);
  EXPECT_EQ(marked.instructions, 2u);
  const EntryCode framed = read("55 48 89 e5 5d c3 66 2e 0f 1f 84 00 00 00 00 00");
  EXPECT_EQ(framed.room, 16u);
  EXPECT_EQ(framed.instructions, 4u);
}

TEST(EntryCode, HasNoRoomWhereSomethingIsDone) {
  EXPECT_EQ(read("ff 05 00 00 00 00 c3 90 90 90 90 90 90 90 90 90").room, 0u);  // counts
  EXPECT_EQ(read("53 5b c3 90 90 90 90 90 90 90 90 90 90 90 90 90").room, 0u);  // rbx
  EXPECT_EQ(read("c2 08 00 90 90 90 90 90 90 90 90 90 90 90 90 90").room, 0u);  // takes arguments
  EXPECT_EQ(read("cc 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90").room, 0u);  // a debugger's breakpoint
  EXPECT_EQ(read("e9 00 00 00 00 c3 90 90 90 90 90 90 90 90 90 90").room, 0u);
}

TEST(EntryCode, HasNoRoomWhereAnotherFunctionFollows) {
  EXPECT_EQ(read("c3 b8 01 00 00 00 c3 90 90 90 90 90 90 90 90 90").room, 0u);
  EXPECT_EQ(read("c3 90 90 90").room, 0u);                                         // cut
  EXPECT_EQ(read("c3 90 90 90 90 90 90 90 90 90 90 90 90 90 66 66 90").room, 0u);  // over the border
  EXPECT_EQ(read("").room, 0u);
}

}  // namespace
