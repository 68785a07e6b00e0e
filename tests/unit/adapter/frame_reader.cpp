#include "tests/unit/adapter/frame_reader.hpp"

namespace frames {
namespace {

struct Reader {
  Frame now, kept;
  bool has_kept = false;

  bool through_stack_pointer() const noexcept {
    return now.cfa_register == kStackPointer && now.cfa_word < 0;
  }
  void move(std::int64_t bytes) noexcept {
    now.depth += bytes;
    if (through_stack_pointer()) now.cfa_offset = now.depth;
    if (now.depth < 8 || now.cfa_word >= 0) now.valid = false;
  }
  void count_from_stack_pointer(std::int64_t depth) noexcept {
    now.cfa_register = kStackPointer;
    now.cfa_offset = now.depth = depth;
    now.cfa_word = -1;
  }
  // Under a frame register the pop itself says where the stack pointer was.
  void pop(std::uint8_t reg) noexcept {
    std::int64_t& below = now.below[reg];
    if (below == 0 || (through_stack_pointer() && below != now.depth)) now.valid = false;
    now.depth = below;
    below = 0;
    move(-8);
    if (reg == now.cfa_register) count_from_stack_pointer(now.depth);
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
        pop(event.reg);
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
        count_from_stack_pointer(event.value);
        break;
      case JITQUILL_FRAME_FRAME_IN_MEMORY:
        if (through_stack_pointer() || now.cfa_word >= 0) now.valid = false;
        now.cfa_register = kStackPointer;
        now.cfa_word = event.value;
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
