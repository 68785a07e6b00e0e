// A sink of OpenJ9 traces that has begun, and what is told to one.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tests/golden/run_story.hpp"
#include "tests/unit/writer/openj9_trace.hpp"
#include "tests/unit/writer/told_event.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_openj9_sink() noexcept;

namespace openj9_story {

using jitquill::tests::RunStory;
using jitquill::tests::Told;
using Kind = RuntimeEventKind;
using Lines = std::vector<std::string>;

inline constexpr std::uint64_t kStart = 5'000'000'000;
inline constexpr std::uint64_t kUnixNs = 1'796'094'245'000'000'000;  // 2026-12-01 03:04:05 UTC

inline std::unique_ptr<RunSink> begun(const RunSettings& settings, Bytes& out) {
  std::unique_ptr<RunSink> sink(make_openj9_sink());
  sink->set(settings);
  Origin origin{4711, kStart};
  origin.unix_ns = kUnixNs;
  origin.processors = 3;
  origin.arguments = {"program\0-x\nforged\0", 18};
  origin.options = {"hooks=*\0", 8};
  EXPECT_EQ(sink->begin(origin, out), Status::kOk);
  return sink;
}

inline void define(RunSink& sink, FunctionNumber number, std::string_view name, Bytes& out) {
  EXPECT_EQ(sink.define({number, 0, 0, 0, name, "", 0}, out), Status::kOk);
}

inline openj9_reader::Text print(const Bytes& out) {
  const auto file = openj9_reader::read(openj9::tests::chars(out));
  EXPECT_EQ(describe(file.violations), "");
  auto text = text_of(file, openj9::tests::own_templates());
  EXPECT_EQ(describe(text.violations), "");
  openj9::tests::expect_as_formatted(openj9::tests::chars(out), file, text);
  return text;
}

inline RunSettings selected(const char* select, bool internal = false) {
  RunSettings settings;
  EXPECT_EQ(settings.openj9_select.set(select), nullptr);
  settings.openj9_internal = internal;
  return settings;
}

// Two threads, code, a collection, a loss, each way to end.
inline void tell(RunSink& sink, Bytes& out) {
  using enum RunEventKind;
  define(sink, 0, "main", out);
  define(sink, 1, "fib\n", out);
  EXPECT_EQ(sink.code({CodeNews::Kind::kLoad, 7, kStart - 5, 0x1000, 64, "fib", "f.nib", 3}, out),
            Status::kOk);
  EXPECT_EQ(sink.code({CodeNews::Kind::kMove, 7, kStart + 2, 0x2000, 64, "", "", 0}, out), Status::kOk);
  EXPECT_EQ(sink.code({CodeNews::Kind::kUnload, 7, kStart + 900, 0x2000, 64, "", "", 0}, out), Status::kOk);
  std::list<std::vector<std::uint8_t>> payloads;
  const auto post = [&](RunStory& story, std::uint64_t when, const Told& told) {
    payloads.push_back(jitquill::tests::packed(told));
    story.post(kStart + when, static_cast<std::uint32_t>(told.kind), payloads.back());
  };
  RunStory first, second;
  const FunctionNumber callers[] = {0};
  first.other(kThreadBegin, kStart + 10)
      .enter(kStart + 100, 0)
      .enter(kStart + 200, 1)
      .stack({callers, false});
  post(first, 250, {Kind::kGcPhase, {event_word::kGcPhase::kIdle}});
  post(first, 260, {Kind::kHeapSize, {4096}});
  post(first, 270, {Kind::kMarker, {}, "half\tdone"});
  first.leave(kStart + 300, FrameEnd::kUnwound).other(kLost, kStart + 400, kStart + 350, 17);
  first.leave(kStart + 500).other(kThreadEnd, kStart + 501);
  second.enter(kStart + 150, 1).leave(kStart + 160, FrameEnd::kTailCalled).enter(kStart + 160, 0);
  const std::uint8_t own[3] = {};
  second.post(kStart + 170, 2000, own).leave(kStart + 600, FrameEnd::kProcessEnd);
  EXPECT_EQ(sink.batch(second.batch({1, 12, "other"}), out), Status::kOk);
  EXPECT_EQ(sink.batch(first.batch({0, 11, "nib"}), out), Status::kOk);
  EXPECT_EQ(sink.end(kStart + 1000, out), Status::kOk);
}

}  // namespace openj9_story
}  // namespace jitquill
