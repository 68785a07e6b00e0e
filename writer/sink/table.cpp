#include "writer/sink/run_sink.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

// A sink's maker is declared by its row: nothing else of it is needed here.
#define SINK(name, at_once, help) Sink* make_##name##_sink() noexcept;
#define RUN_SINK(name, file, events, needs, help) RunSink* make_##name##_sink() noexcept;
#define LATER_SINK(name)
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK

namespace {

constexpr SinkRow kRows[] = {
#define SINK(name, at_once, help) \
  {#name, at_once, make_##name##_sink, nullptr, "", ShownEvents::kNone, "", help},
#define RUN_SINK(name, file, events, needs, help) \
  {#name, false, nullptr, make_##name##_sink, file, ShownEvents::events, needs, help},
#define LATER_SINK(name) {#name, true, nullptr, nullptr, "", ShownEvents::kNone, "", ""},
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK
};

}  // namespace

std::span<const SinkRow> sink_rows() noexcept {
  return kRows;
}

}  // namespace jitquill
