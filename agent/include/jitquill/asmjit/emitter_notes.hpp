// What an Announced emitter notes beside its instructions: lines, functions, epilogs. Places are labels,
// since in a Builder an instruction has no offset before it is serialized.
//
// Context   the thread that emits; read by the runtime while the emitter rests.
#pragma once

#include <jitquill/asmjit/frame_tracker.hpp>
#include <jitquill/asmjit/sled.hpp>

namespace jitquill::asmjit_detail {

struct LineMark {
  std::uint32_t label;
  std::uint32_t line;
  std::uint32_t column;
};

struct EpilogMark {
  std::uint32_t begin, end;  // labels
};

struct StartMark {
  std::uint32_t label;
  bool certain;  // said by the runtime; else a prolog begins here, which may be that of a function under way
  Convention convention;
};

// One function as an emitter knows it.
struct KnownFunction {
  std::uint32_t start = 0;                       // offset in its section
  std::size_t first_event = 0, event_count = 0;  // in the tracker's rows
  Refusal refusal = Refusal::kNoFrame;
  std::uint32_t epilog_end = 0;  // of a replayed one
};

struct EmitterNotes {
  Rows<LineMark> lines;
  Rows<EpilogMark> epilogs;
  Rows<StartMark> starts;
  Rows<SiteMark> sites;
  Rows<KnownFunction> functions;  // without the one under way
  FrameTracker tracker;
  asmjit::Section* section = nullptr;  // of the tracked function

  void clear() noexcept {
    lines.clear();
    epilogs.clear();
    starts.clear();
    sites.clear();
    functions.clear();
    tracker.clear();
    section = nullptr;
  }

  KnownFunction current() const noexcept {
    const FrameEvents& events = tracker.events();
    return {events.start(), events.first(), events.rows().size() - events.first(), events.refusal(),
            tracker.last_end()};
  }

  void bound(std::uint32_t label, std::uint32_t offset) noexcept {
    for (const StartMark& start : starts) {
      if (start.label != label) continue;
      if ((tracker.alive() && !start.certain) || tracker.empty_function())
        return tracker.follow(start.convention);
      if (tracker.started()) functions.put(current());
      return tracker.begin(offset, start.convention);
    }
    tracker.label(label, offset);
  }
};

}  // namespace jitquill::asmjit_detail
