// The text of the format counts, spelled from its page (docs/counts.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/golden/run_story.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_counts_sink() noexcept;

namespace {

using tests::RunStory;
using tests::text_of;

constexpr const char* kHead = "calls\ttotal_ns\tself_ns\tmin_ns\tmax_ns\tfunction\tfile:line\n";

class Counts : public testing::Test {
 protected:
  Counts() { define(*sink); }
  static void define(RunSink& to) {
    Bytes none;
    EXPECT_EQ(to.define({0, 1, 0, 0, "main", "/src/fib.nib", 9}, none), Status::kOk);
    EXPECT_EQ(to.define({1, 2, 0, 0, "fib", "/src/fib.nib", 1}, none), Status::kOk);
    EXPECT_EQ(to.define({2, 0, 0x1000, 0, "print\ttab", "", 0}, none), Status::kOk);
    EXPECT_EQ(none.size(), 0u);
  }
  void batch(const RunStory& story, std::uint32_t thread = 0) {
    EXPECT_EQ(sink->batch(story.batch({thread, 4711 + thread, "nib"}), out), Status::kOk);
  }
  std::string ended() {
    EXPECT_EQ(out.size(), 0u);  // nothing before the end
    EXPECT_EQ(sink->end(99, out), Status::kOk);
    return text_of(out);
  }

  std::unique_ptr<RunSink> sink{make_counts_sink()};
  Bytes out;
};

TEST_F(Counts, LooksAsItsPageShows) {
  RunStory story;
  story.enter(1'000, 0);
  story.enter(2'000, 1).enter(2'100, 1).enter(2'200, 1).leave(2'700).leave(2'900).leave(3'000);  // recursion
  story.enter(4'000, 2).leave(4'050).leave(6'000);
  ASSERT_EQ(sink->begin({4711, 0}, out), Status::kOk);
  batch(story);
  const std::string text = ended();
  EXPECT_EQ(text, std::string(kHead) +
                      "1\t5000\t3950\t5000\t5000\tmain\t/src/fib.nib:9\n"
                      "3\t1000\t1000\t500\t1000\tfib\t/src/fib.nib:1\n"
                      "1\t50\t50\t50\t50\tprint?tab\t\n");
  EXPECT_TRUE(tests::page_has(JITQUILL_DOCS "/counts.md", text));
}

// The outermost activation of each thread.
TEST_F(Counts, TwoThreadsInOneFunctionEachCount) {
  RunStory one, other;
  one.enter(0, 1);
  other.enter(10, 1).enter(20, 1).leave(30).leave(60);
  batch(one);
  batch(other, 1);
  one.turn_page();
  one.leave(100);
  batch(one);
  EXPECT_EQ(ended(), std::string(kHead) + "3\t150\t150\t10\t100\tfib\t/src/fib.nib:1\n");
}

TEST_F(Counts, CountsWhatWasLost) {
  RunStory story;
  story.other(RunEventKind::kLost, 5, 3, 40).other(RunEventKind::kLost, 6, 5, 2);
  batch(story);
  EXPECT_EQ(ended(), std::string(kHead) + "# 42 records lost\n");
}

TEST_F(Counts, PassesOverFunctionsThatNobodyDefined) {
  RunStory story;
  story.enter(1, 77).leave(2);
  batch(story);
  EXPECT_EQ(ended(), kHead);
}

// After any batch its state and a new sink go on as it would have.
TEST_F(Counts, GoesOnFromItsState) {
  for (const bool all_at_once : {false, true}) {
    std::unique_ptr<RunSink> original(make_counts_sink()), copy(make_counts_sink());
    define(*original);
    RunStory story;
    Bytes none, state;
    std::uint64_t now = 0;
    for (int page = 0; page < 20; ++page) {
      story.turn_page();
      for (int i = 0; i < 5; ++i) story.enter(now += 7, static_cast<FunctionNumber>((page + i) % 3));
      for (int i = 0; i < (page < 10 ? 3 : 7); ++i) story.leave(now += 5 + static_cast<std::uint64_t>(i));
      const RunThread thread{static_cast<std::uint32_t>(page % 3 == 0 ? 0 : 1), 1, ""};
      ASSERT_EQ(original->batch(story.batch(thread), none), Status::kOk);
      state.clear();
      if (all_at_once) {
        copy.reset(make_counts_sink());
        original->put_all(state);
      } else {
        original->put_changes(state);
      }
      ASSERT_TRUE(copy->apply(state.view()));
      ASSERT_TRUE(copy->apply(state.view()));  // replaces: twice does no harm
      if (page == 13) original.swap(copy);
    }
    Bytes one, other;
    ASSERT_EQ(original->end(now, one), Status::kOk);
    ASSERT_EQ(copy->end(now, other), Status::kOk);
    EXPECT_EQ(text_of(one), text_of(other));
  }
}

TEST_F(Counts, RefusesAStateThatIsNone) {
  RunStory story;
  story.enter(1, 1);
  batch(story);
  Bytes state;
  sink->put_all(state);
  for (std::size_t size = 0; size < state.size(); ++size)
    EXPECT_FALSE(std::unique_ptr<RunSink>(make_counts_sink())->apply(state.view().first(size))) << size;
}

}  // namespace
}  // namespace jitquill
