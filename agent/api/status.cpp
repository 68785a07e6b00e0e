// The C header repeats numbers that live in tables, since it is one file that runtimes copy. Here the two
// meet: a row that one side lacks, or numbers otherwise, does not compile.
#include <cstddef>

#include "jitquill/events.h"
#include "jitquill/jitquill.h"
#include "writer/model/code.hpp"
#include "writer/model/frame_event.hpp"
#include "writer/model/runtime_event.hpp"
#include "writer/model/status.hpp"

namespace jitquill {

#define STATUS(name, NAME, number, text) static_assert(JITQUILL_##NAME == number);
#include "writer/model/status.def"
#undef STATUS

#define FRAME_EVENT(name, NAME, number, needs_register) static_assert(JITQUILL_FRAME_##NAME == number);
#include "writer/model/frame_event.def"
#undef FRAME_EVENT

static_assert(JITQUILL_OWN_EVENTS == kFirstOwnEvent);
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields)                         \
  static_assert(JITQUILL_EVENT_##C_NAME == static_cast<std::uint32_t>(RuntimeEventKind::name) && \
                number < kFirstOwnEvent);
#define EVENT_WORD(set, name, C_NAME, number, words, meaning) static_assert(number != 0 && number < 256);
#include "writer/model/runtime_event.def"

// The rows of lines and frame events are read where the runtime has them.
static_assert(sizeof(Line) == sizeof(jitquill_line) &&
              offsetof(Line, offset) == offsetof(jitquill_line, offset) &&
              offsetof(Line, line) == offsetof(jitquill_line, line) &&
              offsetof(Line, column) == offsetof(jitquill_line, column) &&
              offsetof(Line, file) == offsetof(jitquill_line, file));
static_assert(sizeof(FrameEvent) == sizeof(jitquill_frame_event) &&
              offsetof(FrameEvent, offset) == offsetof(jitquill_frame_event, offset) &&
              offsetof(FrameEvent, kind) == offsetof(jitquill_frame_event, kind) &&
              offsetof(FrameEvent, reg) == offsetof(jitquill_frame_event, reg) &&
              offsetof(FrameEvent, value) == offsetof(jitquill_frame_event, value));

static_assert(sizeof(InlinePosition) == sizeof(jitquill_inline_position) &&
              offsetof(InlinePosition, caller) == offsetof(jitquill_inline_position, caller) &&
              offsetof(InlinePosition, function_column) ==
                  offsetof(jitquill_inline_position, function_column) &&
              offsetof(InlinePosition, function) == offsetof(jitquill_inline_position, function) &&
              offsetof(InlinePosition, file) == offsetof(jitquill_inline_position, file));
static_assert(sizeof(InlineRow) == sizeof(jitquill_inline_row) &&
              offsetof(InlineRow, position) == offsetof(jitquill_inline_row, position));

static_assert(sizeof(Site) == sizeof(jitquill_site) &&
              offsetof(Site, offset) == offsetof(jitquill_site, offset) &&
              offsetof(Site, kind) == offsetof(jitquill_site, kind));

}  // namespace jitquill

extern "C" const char* jitquill_status_text(jitquill_status status) {
  return jitquill::text(static_cast<jitquill::Status>(status));
}
