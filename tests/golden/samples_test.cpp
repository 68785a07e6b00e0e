// The text of the format samples, spelled from its page (docs/samples.md).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/golden/run_story.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_samples_sink() noexcept;

namespace {

using tests::text_of;

constexpr const char* kHead = "self\ttotal\tkernel\tfunction\tfile:line\n";

class Samples : public testing::Test {
 protected:
  Samples() { define(*sink); }
  static void define(RunSink& to) {
    Bytes none;
    EXPECT_EQ(to.define({0, 1, 0, 0, "main", "/src/fib.nib", 9}, none), Status::kOk);
    EXPECT_EQ(to.define({1, 2, 0, 0, "fib", "/src/fib.nib", 1}, none), Status::kOk);
    EXPECT_EQ(to.define({2, 0, 0x1000, 0, "print\ttab", "", 0}, none), Status::kOk);
    EXPECT_EQ(none.size(), 0u);
  }
  void sample(const std::vector<FunctionNumber>& functions, bool is_kernel = false, bool is_partial = false,
              std::uint64_t lost = 0) {
    std::vector<SampleFrame> frames;
    for (const FunctionNumber function : functions) frames.push_back({0x1000, 0, function});
    const SampleView view{1, 0x1000, 4711, 4711, is_kernel, is_partial, frames};
    EXPECT_EQ(sink->samples({0, lost, {&view, 1}}, out), Status::kOk);
  }
  void story() {
    sample({1, 0});
    sample({1, 1, 0}, true);  // a recursion
    sample({0, 2}, false, true, 2);
  }
  std::string ended() {
    EXPECT_EQ(out.size(), 0u);  // nothing before the end
    EXPECT_EQ(sink->end(99, out), Status::kOk);
    return text_of(out);
  }

  std::unique_ptr<RunSink> sink{make_samples_sink()};
  Bytes out;
};

TEST_F(Samples, LooksAsItsPageShows) {
  ASSERT_EQ(sink->begin({4711, 0}, out), Status::kOk);
  story();
  const std::string text = ended();
  EXPECT_EQ(text, std::string(kHead) +
                      "2\t2\t1\tfib\t/src/fib.nib:1\n"
                      "1\t3\t0\tmain\t/src/fib.nib:9\n"
                      "0\t1\t0\tprint?tab\t\n"
                      "# 3 samples\n# 1 of them with frames missing\n# 2 samples lost\n");
  EXPECT_TRUE(tests::page_has(JITQUILL_DOCS "/samples.md", text));
}

TEST_F(Samples, CountsLossesBehindTheLastSample) {
  EXPECT_EQ(sink->samples({3, 7, {}}, out), Status::kOk);
  EXPECT_EQ(ended(), std::string(kHead) + "# 7 samples lost\n");
}

TEST_F(Samples, GoesOnWhereAKilledProcessWas) {
  Bytes changes, all, none;
  sample({1, 0});
  sink->put_changes(changes);
  sample({1, 1, 0}, true);
  sample({0, 2}, false, true, 2);
  sink->put_all(all);
  const std::string whole = ended();
  for (Bytes* state : {&changes, &all}) {
    sink.reset(make_samples_sink());
    ASSERT_TRUE(sink->apply(state->view()));
    out.clear();
    if (state == &changes) {
      sample({1, 1, 0}, true);
      sample({0, 2}, false, true, 2);
    }
    EXPECT_EQ(ended(), whole);
  }
  sink.reset(make_samples_sink());
  EXPECT_FALSE(sink->apply(all.view().first(all.size() - 1)));
}

}  // namespace
}  // namespace jitquill
