#include "tests/unit/adapter/frame_reader.hpp"

namespace frames {
namespace {

struct Reader {
  Frame now, kept;
  bool has_kept = false;

  void move(std::int64_t bytes) noexcept {
    now.depth += bytes;
    if (now.cfa_register == kStackPointer) now.cfa_offset = now.depth;
    if (now.depth < 8) now.valid = false;
  }

  void apply(const jitquill_frame_event& event) noexcept {
    if (event.reg >= 16 || event.reserved != 0) now.valid = false;
    if (!now.valid) return;
    std::int64_t& below = now.below[event.reg];
    switch (event.kind) {
      case JITQUILL_FRAME_PUSH:
        move(8);
        below = now.depth;
        break;
      case JITQUILL_FRAME_POP:
        if (below != now.depth) now.valid = false;
        below = 0;
        move(-8);
        break;
      case JITQUILL_FRAME_ALLOCATE:
        move(event.value);
        break;
      case JITQUILL_FRAME_FREE:
        move(-std::int64_t{event.value});
        break;
      case JITQUILL_FRAME_SAVE:
        below = event.value;
        break;
      case JITQUILL_FRAME_RESTORE:
        below = 0;
        break;
      case JITQUILL_FRAME_SET_FRAME:
        now.cfa_register = event.reg;
        now.cfa_offset = now.depth;
        break;
      case JITQUILL_FRAME_DROP_FRAME:
        now.cfa_register = kStackPointer;
        now.cfa_offset = now.depth = event.value;
        break;
      case JITQUILL_FRAME_REMEMBER:
        kept = now;
        has_kept = true;
        break;
      case JITQUILL_FRAME_RECALL:
        if (has_kept)
          now = kept;
        else
          now.valid = false;
        has_kept = false;
        break;
      default:
        now.valid = false;
    }
  }
};

}  // namespace

Frame frame_at(std::span<const jitquill_frame_event> events, std::uint32_t offset) noexcept {
  Reader reader;
  std::uint32_t last = 0;
  for (const jitquill_frame_event& event : events) {
    if (event.offset < last) reader.now.valid = false;
    last = event.offset;
    if (event.offset <= offset) reader.apply(event);
  }
  return reader.now;
}

}  // namespace frames
