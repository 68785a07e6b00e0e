// Profiles and messages that an eventlog has of calls, and of a runtime's heap.
#include "tests/unit/writer/eventlog_story.hpp"

namespace jitquill {
namespace {

using Kind = RuntimeEventKind;
using eventlog_reader::Event;
using eventlog_reader::File;
using Names = std::vector<std::string>;

constexpr std::uint64_t kStart = tests::kLogStart;

class EventlogProfile : public tests::EventlogStory {};

TEST_F(EventlogProfile, SamplesWhatIsOpenAtItsInterval) {
  begin({.eventlog_samples = true, .eventlog_interval_ns = 10});
  for (const FunctionNumber f : {1u, 2u})
    EXPECT_EQ(sink->define({f, 1, 0, 0, f == 1 ? "f" : "g", "f.x", 7}, out), Status::kOk);
  thread(0).enter(kStart + 5, 1).enter(kStart + 12, 2).leave(kStart + 33).leave(kStart + 40);
  thread(0).enter(kStart + 55, 2);  // nothing was open at 50
  flush(0);
  thread(0).leave(kStart + 61);
  flush(0);
  const File file = end(100);
  EXPECT_EQ(file.named("PROF_BEGIN").at(0).numbers, std::vector<std::uint64_t>{10});
  EXPECT_EQ(file.named("HEAP_PROF_COST_CENTRE").at(0).texts, (Names{"f", "", "f.x:7"}));
  constexpr std::uint64_t kF = (1u << 30) + 1, kG = kF + 1;
  std::vector<std::vector<std::uint64_t>> samples;
  for (const Event& sample : file.named("PROF_SAMPLE_COST_CENTRE")) {
    samples.push_back(sample.numbers);
    EXPECT_EQ(sample.when_ns, 10 * sample.numbers[1]);
  }
  EXPECT_EQ(samples, (std::vector<std::vector<std::uint64_t>>{
                         {0, 1, 1, kF}, {0, 2, 2, kG, kF}, {0, 3, 2, kG, kF}, {0, 4, 1, kF}, {0, 6, 1, kG}}));
}

TEST_F(EventlogProfile, HasASamplersSamplesInPlaceOfItsOwn) {
  begin({.eventlog_samples = true, .eventlog_interval_ns = 10, .samples_hz = 1'000});
  for (const FunctionNumber f : {1u, 2u})
    EXPECT_EQ(sink->define({f, 1, 0, 0, f == 1 ? "f" : "g", "f.x", 7}, out), Status::kOk);
  thread(0).enter(kStart + 5, 1).leave(kStart + 33);
  flush(0);
  std::vector<SampleFrame> frames = {{1, 0, 2}, {1, 0, 1}};
  std::vector<SampleFrame> deep(300, {1, 0, 1});
  const std::vector<SampleView> views = {{kStart + 40, 1, 1, 77, false, false, frames},
                                         {kStart + 41, 1, 1, 77, true, false, deep}};
  EXPECT_EQ(sink->samples({0, 3, views}, out), Status::kOk);
  const File file = end(100);
  EXPECT_EQ(file.named("PROF_BEGIN").at(0).numbers, std::vector<std::uint64_t>{1'000'000});
  EXPECT_EQ(file.named("PERF_NAME").at(0).texts, Names{"samples"});
  const auto counters = file.named("PERF_COUNTER"), samples = file.named("PROF_SAMPLE_COST_CENTRE");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[1].numbers, (std::vector<std::uint64_t>{0, 77, 0}));
  EXPECT_EQ(counters[1].when_ns, 41u);
  constexpr std::uint64_t kF = (1u << 30) + 1, kG = kF + 1;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].numbers, (std::vector<std::uint64_t>{0, 1, 2, kG, kF}));
  EXPECT_EQ(samples[1].numbers.size(), 3u + 255);
}

// So no cost centre is sampled, but how often a thread was is there.
TEST_F(EventlogProfile, CountsASamplersSamplesAnyway) {
  begin({.samples_hz = 1'000});
  const SampleFrame frame{1, 0, 1};
  const SampleView view{kStart + 40, 1, 1, 77, false, false, {&frame, 1}};
  EXPECT_EQ(sink->samples({0, 0, {&view, 1}}, out), Status::kOk);
  const File file = end(100);
  EXPECT_EQ(file.named("PERF_COUNTER").size(), 1u);
  EXPECT_EQ(file.named("PROF_SAMPLE_COST_CENTRE").size(), 0u);
}

TEST_F(EventlogProfile, KeepsEachBlockInTheOrderOfTime) {
  begin({.eventlog_messages = true,
         .eventlog_ticky = true,
         .eventlog_samples = true,
         .eventlog_interval_ns = 10});
  EXPECT_EQ(sink->define({1, 1, 0, 0, "f", "", 0}, out), Status::kOk);
  for (const std::uint32_t of : {0u, 1u, 0u}) {
    call(of, 5, 47);
    thread(of).enter(kStart + 48, 1);
    flush(of);
    tell(of, 65, {Kind::kCounterNamed, {1}, "of no capability, as samples are"});
    thread(of).leave(kStart + 99);
    tell(of, 100, {Kind::kMarker, {}, "m"});
    thread(of).other(RunEventKind::kLost, kStart + 101, kStart + 100, 1);
    flush(of);
    stories.clear();
  }
  EXPECT_GT(end(200).named("PROF_SAMPLE_COST_CENTRE").size(), 10u);  // end() asks for the order
}

TEST_F(EventlogProfile, CountsEntriesAsTickyDoes) {
  for (const std::uint8_t level : {std::uint8_t{0}, std::uint8_t{1}}) {
    begin({.eventlog_own = false,
           .eventlog_ticky = true,
           .eventlog_level = level,
           .eventlog_interval_ns = 100});
    stories.clear();
    for (const FunctionNumber f : {1u, 2u})
      EXPECT_EQ(sink->define({f, 1, 0x1000, 0, "f", "f.x", 7}, out), Status::kOk);
    call(0, 10, 20);
    flush(0);
    call(0, 30, 40);
    call(0, 110, 120);
    flush(0);
    thread(0).enter(kStart + 130, 2).leave(kStart + 140);
    flush(0);
    const File file = end(150);
    ASSERT_EQ(file.named("TICKY_COUNTER_DEF").size(), 2u);
    EXPECT_EQ(file.named("TICKY_COUNTER_DEF")[0].numbers.size(), level == 0 ? 2u : 3u);
    std::vector<std::vector<std::uint64_t>> samples;
    for (const Event& sample : file.named("TICKY_COUNTER_SAMPLE")) samples.push_back(sample.numbers);
    EXPECT_EQ(samples, (std::vector<std::vector<std::uint64_t>>{{2, 1, 0, 0}, {2, 2, 0, 0}, {3, 1, 0, 0}}));
    EXPECT_EQ(file.named("TICKY_COUNTER_BEGIN_SAMPLE").size(), 3u);
  }
}

TEST_F(EventlogProfile, NamesCallsInMessagesIfAsked) {
  begin({.eventlog_own = false, .eventlog_messages = true});
  EXPECT_EQ(sink->define({1, 1, 0, 0, "f", "", 0}, out), Status::kOk);
  call(0, 10, 20);
  flush(0);
  const auto messages = end(30).named("USER_MSG");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].texts, Names{"START f"});
  EXPECT_EQ(messages[1].texts, Names{"STOP f"});
  EXPECT_EQ(messages[1].when_ns, 20u);
}

TEST_F(EventlogProfile, BeginsSamplesOfLivesAsGhcDoes) {
  tell(0, 1, {Kind::kHeapProfileBegin, {event_word::kBandKind::kLife, 9}});
  tell(0, 2, {Kind::kHeapSampleBegin, {4}});
  tell(0, 3, {Kind::kHeapSampleBand, {64}, "LAG"});
  tell(0, 4, {Kind::kHeapSampleEnd, {4}});
  flush(0);
  const File file = end(10);
  EXPECT_EQ(file.named("HEAP_BIO_PROF_SAMPLE_BEGIN").at(0).numbers, (std::vector<std::uint64_t>{4, 2}));
  EXPECT_TRUE(file.named("HEAP_PROF_SAMPLE_BEGIN").empty());
}

}  // namespace
}  // namespace jitquill
