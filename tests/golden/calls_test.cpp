// The text of the format calls, spelled from its page (docs/calls.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/golden/run_story.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_calls_sink() noexcept;

namespace {

using tests::RunStory;
using tests::text_of;

constexpr RunThread kThread{0, 4711, "nib"};
constexpr std::uint64_t kStart = 12'000'000'000;
constexpr std::string_view kBlank = "                | ";  // in the column of durations

class Calls : public testing::Test {
 protected:
  Calls() { define({"main", "fib", "print(int)", "on_signal"}); }
  void define(std::initializer_list<const char*> names) {
    for (const char* name : names)
      EXPECT_EQ(sink->define({next++, 1, 0, 0, name, "f.nib", 1}, out), Status::kOk);
  }
  // All behind the columns of time and thread, a line an element.
  std::string columns(const RunStory& story) {
    out.clear();
    EXPECT_EQ(sink->batch(story.batch(kThread), out), Status::kOk);
    std::string all = text_of(out), kept;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      const std::size_t bar = all.find(" | ", all.find(" | ", at) + 3);
      kept += all.substr(bar + 3, end + 1 - bar - 3);
      at = end + 1;
    }
    return kept;
  }

  std::unique_ptr<RunSink> sink{make_calls_sink()};
  Bytes out;
  FunctionNumber next = 0;
};

TEST_F(Calls, LooksAsItsPageShows) {
  ASSERT_EQ(sink->begin({4711, kStart}, out), Status::kOk);
  RunStory story;
  story.other(RunEventKind::kThreadBegin, kStart).enter(kStart + 1'000, 0).enter(kStart + 2'000, 1);
  story.leave(kStart + 2'120).enter(kStart + 2'500, 1).enter(kStart + 2'600, 2);
  story.leave(kStart + 4'000, FrameEnd::kUnwound).leave(kStart + 4'000, FrameEnd::kUnwound);
  const std::uint8_t generation[] = {1, 0};
  story.post(kStart + 4'500, 41, generation);
  story.other(RunEventKind::kLost, kStart + 9'000, kStart + 5'000, 17).leave(kStart + 10'215);
  story.other(RunEventKind::kThreadEnd, kStart + 11'000);
  ASSERT_EQ(sink->batch(story.batch(kThread), out), Status::kOk);
  ASSERT_EQ(sink->end(kStart + 12'000, out), Status::kOk);
  const std::string text = text_of(out);
  EXPECT_EQ(text,
            "# jitquill calls 1, process 4711; times are CLOCK_MONOTONIC in s, durations are in us\n"
            "#            time | thread                 |       duration | calls\n"
            "     12.000000000 | nib-4711               |                 | /* thread begins */\n"
            "     12.000001000 | nib-4711               |                 | main() {\n"
            "     12.000002000 | nib-4711               |           0.120 |   fib();\n"
            "     12.000002500 | nib-4711               |                 |   fib() {\n"
            "     12.000002600 | nib-4711               |           1.400 |     print(int); /* unwound */\n"
            "     12.000004000 | nib-4711               |           1.500 |   } /* unwound */\n"
            "     12.000004500 | nib-4711               |                 |   /* collection begins: "
            "generation 1 */\n"
            "     12.000009000 | nib-4711               |                 | /* 17 records lost between "
            "12.000005000 and 12.000009000 */\n"
            "     12.000010215 | nib-4711               |           9.215 | }\n"
            "     12.000011000 | nib-4711               |                 | /* thread ends */\n"
            "# ended at 12.000012000\n");
  EXPECT_TRUE(tests::page_has(JITQUILL_DOCS "/calls.md", text));
}

TEST_F(Calls, SaysWhoHadCalledWhereThatWasTaken) {
  const FunctionNumber callers[] = {2, 1, 0};
  RunStory story;
  story.enter(kStart, 0).enter(kStart + 1'000, 1).stack({callers, false}).leave(kStart + 3'500);
  story.enter(kStart + 4'000, 1).stack({std::span(callers).first(1), true}).leave(kStart + 5'000);
  const std::string text = columns(story);
  EXPECT_EQ(text, std::string(kBlank) + "main() {\n" +              //
                      std::string(kBlank) + "  fib() {\n" +         //
                      std::string(kBlank) + "   => print(int)\n" +  //
                      std::string(kBlank) + "   => fib\n" +         //
                      std::string(kBlank) + "   => main\n" +        //
                      "          2.500 |   }\n" +                   //
                      std::string(kBlank) + "  fib() {\n" +         //
                      std::string(kBlank) + "   => print(int)\n" +  //
                      std::string(kBlank) + "   => ... /* frames may be missing */\n" +
                      "          1.000 |   }\n");
}

TEST_F(Calls, SaysOfWhichEntryAStackIsIfThatIsElsewhere) {
  const FunctionNumber callers[] = {0};
  RunStory story;
  story.enter(kStart, 1).stack({callers, false});
  story.events.erase(story.events.begin());
  EXPECT_EQ(columns(story),
            std::string(kBlank) + "/* call stack of fib() */\n" + std::string(kBlank) + " => main\n");
}

TEST_F(Calls, SaysHowAFrameEndedUnlessItReturned) {
  RunStory story;
  for (const FrameEnd end : {FrameEnd::kReturned, FrameEnd::kTailCalled, FrameEnd::kUnwound,
                             FrameEnd::kThreadEnd, FrameEnd::kProcessEnd, FrameEnd::kOpen})
    story.enter(1, 1).leave(1, end);
  EXPECT_EQ(columns(story),
            "          0.000 | fib();\n"
            "          0.000 | fib(); /* tail call */\n"
            "          0.000 | fib(); /* unwound */\n"
            "          0.000 | fib(); /* thread end */\n"
            "          0.000 | fib(); /* process end */\n"
            "          0.000 | fib(); /* open */\n");
}

// Only within one batch: what was written stays.
TEST_F(Calls, ALeafWhoseLeaveComesInTheNextBatchHasTwoLines) {
  RunStory story;
  story.enter(1'000, 1);
  EXPECT_EQ(columns(story), std::string(kBlank) + "fib() {\n");
  story.turn_page();
  story.leave(2'500);
  EXPECT_EQ(columns(story), "          1.500 | }\n");
}

TEST_F(Calls, NamesAnotherStack) {
  RunStory story;
  story.enter(1, 1).enter(2, 3, 1).enter(2, 1, 1).leave(3).leave(3, FrameEnd::kUnwound).leave(4);
  EXPECT_EQ(columns(story),
            std::string(kBlank) + "fib() {\n" + std::string(kBlank) + "  on_signal() { /* stack 1 */\n" +
                "          0.001 |     fib(); /* stack 1 */\n" +
                "          0.001 |   } /* stack 1 */ /* unwound */\n" + "          0.003 | }\n");
}

// A recursion of 10^5 would be a file of gigabytes.
TEST_F(Calls, IndentsSixtyLevelsAndCountsTheOthers) {
  RunStory story;
  for (int i = 0; i < 63; ++i) story.enter(1, 1);
  story.leave(2);
  const std::string text = columns(story);
  const std::string blanks(120, ' ');
  EXPECT_NE(text.find("| " + blanks + "fib() {\n" + std::string(kBlank) + blanks + "(+1) fib() {\n"),
            text.npos);
  EXPECT_NE(text.find("| " + blanks + "(+2) fib();\n"), text.npos);
  story.turn_page();
  story.post(3, 2000, {});
  EXPECT_NE(columns(story).find("| " + blanks + "(+2) /* event 2000, 0 bytes */\n"), text.npos);
}

// Where they were told; their words: tests/unit/events.
TEST_F(Calls, TellsOfPosts) {
  const std::uint8_t payload[] = {'a', '\n', 'b'};
  RunStory story;
  story.post(5, 2000, payload).enter(6, 1).post(7, 101, payload).leave(8);
  EXPECT_EQ(columns(story), std::string(kBlank) + "/* event 2000, 3 bytes */\n" + std::string(kBlank) +
                                "fib() {\n" + std::string(kBlank) + "  /* marker: a?b */\n" +
                                "          0.002 | }\n");
}

TEST_F(Calls, ANamelessThreadHasItsNumberAndALineStaysALine) {
  define({"two\nlines"});
  RunStory story;
  story.enter(1, 4).leave(2);
  out.clear();
  ASSERT_EQ(sink->batch(story.batch({3, 99, ""}), out), Status::kOk);
  EXPECT_EQ(text_of(out), "      0.000000001 | 99                     |           0.001 | two?lines();\n");
}

TEST_F(Calls, KnowsItsNamesAgainByItsState) {
  Bytes changes, more;
  sink->put_changes(changes);
  define({"later"});
  sink->put_changes(more);
  std::unique_ptr<RunSink> again(make_calls_sink());
  ASSERT_TRUE(again->apply(changes.view()));
  ASSERT_TRUE(again->apply(more.view()));
  RunStory story;
  story.enter(1, 4).leave(2).enter(3, 0).leave(4);
  const std::string here = columns(story);
  sink.swap(again);
  EXPECT_EQ(columns(story), here);
}

TEST_F(Calls, RefusesAStateThatIsNone) {
  Bytes state;
  sink->put_all(state);
  for (std::size_t size = 0; size < state.size(); ++size)
    EXPECT_FALSE(std::unique_ptr<RunSink>(make_calls_sink())->apply(state.view().first(size))) << size;
  state.u8(0);
  EXPECT_FALSE(std::unique_ptr<RunSink>(make_calls_sink())->apply(state.view()));
}

TEST(CallsRow, IsOfRunNews) {
  const auto row = std::ranges::find(sink_rows(), "calls", &SinkRow::name);
  ASSERT_NE(row, sink_rows().end());
  EXPECT_FALSE(row->at_once);
  EXPECT_EQ(row->make, nullptr);
  EXPECT_EQ(row->make_run, make_calls_sink);
  EXPECT_STREQ(row->file, "calls");
}

}  // namespace
}  // namespace jitquill
