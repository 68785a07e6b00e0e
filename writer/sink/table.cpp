#include "writer/sink/run_sink.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

// A sink's maker is declared by its row: nothing else of it is needed here.
#define SINK(name, at_once, help) Sink* make_##name##_sink() noexcept;
#define RUN_SINK(name, file, help) RunSink* make_##name##_sink() noexcept;
#define LATER_SINK(name)
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK

namespace {

constexpr SinkRow kRows[] = {
#define SINK(name, at_once, help) {#name, at_once, make_##name##_sink, nullptr, "", help},
#define RUN_SINK(name, file, help) {#name, false, nullptr, make_##name##_sink, file, help},
#define LATER_SINK(name) {#name, true, nullptr, nullptr, "", ""},
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK
};

// OpenSinks calls make(), the drain make_run().
constexpr bool have_one_maker() noexcept {
  for (const SinkRow& row : kRows) {
    if (row.make != nullptr && (row.make_run != nullptr || !row.at_once)) return false;
    if (row.make_run != nullptr && (row.at_once || row.file[0] == '\0')) return false;
  }
  return true;
}
static_assert(have_one_maker(), "who announces writes at once; run news goes through the drain into a file");

}  // namespace

std::span<const SinkRow> sink_rows() noexcept {
  return kRows;
}

}  // namespace jitquill
