#include "writer/sink/sink.hpp"

namespace jitquill {

// A sink's maker is declared by its row: nothing else of it is needed here.
#define SINK(name, at_once, help) Sink* make_##name##_sink() noexcept;
#define LATER_SINK(name)
#include "writer/sink/sinks.def"
#undef SINK
#undef LATER_SINK

namespace {

constexpr SinkRow kRows[] = {
#define SINK(name, at_once, help) {#name, at_once, make_##name##_sink, help},
#define LATER_SINK(name) {#name, true, nullptr, ""},
#include "writer/sink/sinks.def"
#undef SINK
#undef LATER_SINK
};

constexpr bool all_at_once() noexcept {
  for (const SinkRow& row : kRows) {
    if (!row.at_once) return false;
  }
  return true;
}
static_assert(all_at_once(), "there is no drain yet that would write the others");

}  // namespace

std::span<const SinkRow> sink_rows() noexcept {
  return kRows;
}

}  // namespace jitquill
