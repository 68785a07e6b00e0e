// The text of the format folded, spelled from its page (docs/folded.md).
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/golden/run_story.hpp"
#include "writer/sink/sink.hpp"
#include "writer/text/stack_tree.hpp"

namespace jitquill {

RunSink* make_folded_sink() noexcept;

namespace {

using tests::RunStory;
using tests::text_of;

class Folded : public testing::Test {
 protected:
  Folded() { define(*sink); }
  static void define(RunSink& to) {
    Bytes none;
    EXPECT_EQ(to.define({0, 1, 0, 0, "main", "", 0}, none), Status::kOk);
    EXPECT_EQ(to.define({1, 2, 0, 0, "fib", "", 0}, none), Status::kOk);
    EXPECT_EQ(to.define({2, 0, 0x1000, 0, "print;line", "", 0}, none), Status::kOk);
    EXPECT_EQ(none.size(), 0u);
  }
  void define(FunctionNumber number, const std::string& name) {
    Bytes none;
    EXPECT_EQ(sink->define({number, 9, 0, 0, name, "", 0}, none), Status::kOk);
  }
  void sample(const std::vector<FunctionNumber>& functions, bool is_kernel = false, bool is_partial = false,
              std::uint64_t lost = 0) {
    std::vector<SampleFrame> frames;
    for (const FunctionNumber function : functions) frames.push_back({0x1000, 0, function});
    const SampleView view{1, 0x1000, 4711, 4711, is_kernel, is_partial, frames, !is_partial};
    EXPECT_EQ(sink->samples({0, lost, {&view, 1}}, out), Status::kOk);
  }
  void batch(RunStory& story, std::uint32_t thread = 0) {
    EXPECT_EQ(sink->batch(story.batch({thread, 100 + thread, ""}), out), Status::kOk);
    story.turn_page();
  }
  std::string ended() {
    EXPECT_EQ(out.size(), 0u);  // nothing before the end
    EXPECT_EQ(sink->end(99, out), Status::kOk);
    return text_of(out);
  }

  std::unique_ptr<RunSink> sink{make_folded_sink()};
  Bytes out;
};

std::uint64_t sum_of(const std::string& folded) {
  std::istringstream lines(folded);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) sum += std::stoull(line.substr(line.rfind(' ') + 1));
  return sum;
}

TEST_F(Folded, LooksAsItsPageShows) {
  ASSERT_EQ(sink->begin({4711, 0}, out), Status::kOk);
  sample({1, 1, 0}, true);
  sample({2}, false, true, 2);
  sample({1, 0});
  sample({0});
  const std::string text = ended();
  EXPECT_EQ(text, "[frames missing];print:line 1\n[lost] 2\nmain 1\nmain;fib 1\nmain;fib;fib;[kernel] 1\n");
  EXPECT_TRUE(tests::page_has(JITQUILL_DOCS "/folded.md", text));
}

// Stacks of V8 come to their end by frame pointers.
TEST_F(Folded, TakesAStackThatAGuessLedToItsEndAsItIs) {
  const SampleFrame frame{1, 0, 0};
  const SampleView view{1, 1, 1, 1, false, true, {&frame, 1}, true};
  EXPECT_EQ(sink->samples({0, 0, {&view, 1}}, out), Status::kOk);
  EXPECT_EQ(ended(), "main 1\n");
}

TEST_F(Folded, IsEmptyWhereNothingWasSeen) {
  EXPECT_EQ(ended(), "");
}

TEST_F(Folded, TakesFunctionsOfOneNameForOne) {
  define(3, "fib");
  define(4, "print:line");
  define(5, "print\nline");
  define(6, "print?line");
  sample({1, 0});
  sample({3, 0});
  for (const FunctionNumber function : {2u, 4u, 5u, 6u}) sample({function, 0});
  EXPECT_EQ(ended(), "main;fib 2\nmain;print:line 2\nmain;print?line 2\n");
}

TEST_F(Folded, HasOwnTimesOfCallsWhereNoSamplesWereTaken) {
  RunStory story;
  story.enter(100, 0).enter(110, 1).enter(120, 1).leave(150);
  batch(story);
  RunStory other;
  other.enter(0, 1).leave(5);
  batch(other, 1);
  story.leave(160).enter(170, 1).leave(180).leave(1'000);
  batch(story);
  EXPECT_EQ(ended(), "fib 5\nmain 840\nmain;fib 30\nmain;fib;fib 30\n");
}

TEST_F(Folded, ShowsSamplesWhereBothAreThere) {
  RunStory story;
  story.enter(100, 0).leave(200);
  batch(story);
  sample({1, 0});
  EXPECT_EQ(ended(), "main;fib 1\n");
}

TEST_F(Folded, KeepsStacksApart) {
  RunStory story;
  story.enter(100, 0).enter(110, 1, 1).leave(150).leave(160);
  batch(story);
  EXPECT_EQ(ended(), "fib 40\nmain 20\n");
}

// Deeper, or of more shapes, than the tree has room for: nothing of the sum is gone.
TEST_F(Folded, PutsWhatHasNoRoomIntoOneFrame) {
  sample(std::vector<FunctionNumber>(5'000, 1));
  sample(std::vector<FunctionNumber>(StackTree::kMostDepth, 1));
  constexpr FunctionNumber kNames = 370;
  for (FunctionNumber i = 0; i < kNames; ++i) define(10 + i, "f" + std::to_string(i));
  for (FunctionNumber i = 0; i < kNames; ++i) {
    std::vector<std::array<SampleFrame, 2>> frames(kNames);
    std::vector<SampleView> views;
    for (FunctionNumber j = 0; j < kNames; ++j) {
      frames[j] = {{{1, 0, 10 + j}, {1, 0, 10 + i}}};
      views.push_back({1, 1, 1, 1, false, false, frames[j]});
    }
    ASSERT_EQ(sink->samples({0, 0, views}, out), Status::kOk);
  }
  const std::string text = ended();
  EXPECT_EQ(sum_of(text), 2u + kNames * kNames);
  EXPECT_NE(text.find("fib;[more] 1\n"), text.npos);
  EXPECT_NE(text.find("f0;f0 1\n"), text.npos);
  EXPECT_TRUE(text.starts_with("[more] "));
  std::istringstream lines(text);
  std::string before;
  std::size_t count = 0;
  bool is_twice = false;
  for (std::string line; std::getline(lines, line); ++count, before = line) is_twice |= line == before;
  EXPECT_FALSE(is_twice);
  EXPECT_LT(count, 2 * StackTree::kMostNodes);
}

TEST_F(Folded, TimesCallsThatHaveNoRoom) {
  RunStory story;
  constexpr std::uint64_t kDepth = StackTree::kMostDepth + 50;
  for (std::uint64_t i = 0; i < kDepth; ++i) story.enter(i, 1);
  batch(story);
  for (std::uint64_t i = 0; i < kDepth; ++i) story.leave(kDepth + i);
  story.enter(10'000, 0).leave(10'007);
  batch(story);
  const std::string text = ended();
  EXPECT_EQ(sum_of(text), 2 * kDepth - 1 + 7);
  EXPECT_NE(text.find("fib;[more] 99\n"), text.npos);
  EXPECT_NE(text.find("\nmain 7\n"), text.npos);
}

TEST_F(Folded, GoesOnWhereAKilledProcessWas) {
  for (const bool has_samples : {true, false}) {
    sink.reset(make_folded_sink());
    define(*sink);
    RunStory story;
    const auto first = [&] {
      story.enter(100, 0).enter(110, 1);
      batch(story);
      if (has_samples) sample({1, 0});
    };
    const auto second = [&](RunStory rest) {
      define(3, "late");
      rest.enter(120, 3).leave(130).leave(150).leave(170);
      batch(rest);
      if (has_samples) sample({3, 1, 0}, true);
    };
    Bytes changes, all;
    first();
    sink->put_changes(changes);
    second(story);
    sink->put_all(all);
    out.clear();
    const std::string whole = ended();
    EXPECT_EQ(whole, has_samples ? "main;fib 1\nmain;fib;late;[kernel] 1\n"
                                 : "main 30\nmain;fib 30\nmain;fib;late 10\n");
    for (Bytes* state : {&changes, &all}) {
      sink.reset(make_folded_sink());
      ASSERT_TRUE(sink->apply(state->view()));
      ASSERT_TRUE(state == &changes || sink->apply(state->view()));  // twice does no harm
      out.clear();
      if (state == &changes) second(story);
      EXPECT_EQ(ended(), whole);
    }
    for (std::size_t size = 0; size < all.size(); ++size) {
      const std::unique_ptr<RunSink> cut(make_folded_sink());
      EXPECT_FALSE(cut->apply(all.view().first(size))) << size;
    }
  }
}

}  // namespace
}  // namespace jitquill
