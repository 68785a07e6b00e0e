#include "writer/gdbobj/sink.hpp"
#include "writer/jitdump/sink.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {
namespace {

constexpr SinkRow kRows[] = {
#define SINK(name, at_once, recovers, make, help) {#name, at_once, recovers, make, help},
#include "writer/sink/sinks.def"
#undef SINK
};

}  // namespace

std::span<const SinkRow> sink_rows() noexcept {
  return kRows;
}

}  // namespace jitquill
