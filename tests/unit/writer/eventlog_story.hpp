// What an eventlog's sink is told in a test, and the log that comes of it.
//
// Context   tests.
// Promises  what end() answers has passed the strict reader, or the test has failed.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tests/golden/run_story.hpp"
#include "tests/readers/eventlog/reader.hpp"
#include "tests/unit/writer/told_event.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_eventlog_sink() noexcept;

namespace tests {

inline constexpr std::uint64_t kLogStart = 5'000'000'000;

class EventlogStory : public testing::Test {
 protected:
  EventlogStory() { begin({}); }
  void begin(const RunSettings& settings) {
    sink.reset(make_eventlog_sink());
    out.clear();
    sink->set(settings);
    Origin origin{4711, kLogStart};
    origin.parent_pid = 17;
    origin.unix_ns = 1'700'000'000'000'000'005;
    origin.arguments = {"program\0-x\0", 11};
    EXPECT_EQ(sink->begin(origin, out), Status::kOk);
  }
  // Times are of the log.
  RunStory& thread(std::uint32_t number) {
    while (stories.size() <= number) stories.emplace_back();
    return stories[number];
  }
  void tell(std::uint32_t number, std::uint64_t when_ns, const Told& told) {
    payloads.push_back(tests::packed(told));
    thread(number).post(kLogStart + when_ns, static_cast<std::uint32_t>(told.kind), payloads.back());
  }
  void flush(std::uint32_t number) {
    const RunThread of{number, 100 + number, "name"};
    EXPECT_EQ(sink->batch(thread(number).batch(of), out), Status::kOk);
    thread(number).turn_page();
  }
  // A system's thread that calls a function in [from, to).
  void call(std::uint32_t number, std::uint64_t from, std::uint64_t to) {
    thread(number).enter(kLogStart + from, 1).leave(kLogStart + to);
  }
  eventlog_reader::File end(std::uint64_t when_ns) {
    EXPECT_EQ(sink->end(kLogStart + when_ns, out), Status::kOk);
    const std::string bytes = tests::text_of(out);
    auto file = eventlog_reader::read(bytes);
    EXPECT_EQ(describe(file.violations), "");
    EXPECT_TRUE(file.has_end);
    EXPECT_EQ(file.backward_steps, 0u);
    return file;
  }
  // Of one capability, the markers of blocks aside; ours by their numbers.
  static std::vector<std::string> names(const eventlog_reader::File& file, std::uint16_t capability) {
    std::vector<std::string> all;
    for (const auto& event : file.events) {
      if (event.capability == capability && event.name != "BLOCK_MARKER")
        all.push_back(event.name.empty() ? std::to_string(event.number) : event.name);
    }
    return all;
  }
  std::uint64_t refused() const { return sink->losses().refused; }

  std::unique_ptr<RunSink> sink;
  Bytes out;
  std::vector<RunStory> stories;
  std::list<std::vector<std::uint8_t>> payloads;
};

}  // namespace tests
}  // namespace jitquill
