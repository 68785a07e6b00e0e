// Frames of Compiler functions: their prolog and epilog are emitted once more into a scratch buffer, where
// every instruction is seen, and compared with the real bytes.
//
// Context   the thread that adds the code; the emitter rests.
// Promises  offsets are exact: the replayed bytes equal the real ones, or the frame is refused.
// Does not  follow a body that moves the stack pointer (NodeReplay does): refused.
#pragma once

#include <jitquill/asmjit/announced.hpp>

namespace jitquill::asmjit_detail {

// Where a Compiler's function lies in its section.
struct FunctionPlace {
  std::uint32_t entry;               // of the function
  std::uint32_t prolog, exit;        // the prolog's and the epilog's first byte
  std::uint32_t return_site;         // the sled in front of the epilog's ret; 0 = none
  std::uint32_t end;                 // of the function's bytes, as far as is known
  std::uint32_t stack_instructions;  // that the real code has, prolog and epilog included
  const std::uint8_t* bytes;         // the section's
};

class FrameReplay {
 public:
  FrameReplay() noexcept : events_tracker_(notes_.tracker) {}

  // The events go to the end of rows(); offsets count from the function's start.
  KnownFunction replay(const asmjit::BaseEmitter& emitter, const asmjit::FuncFrame& frame,
                       const FunctionPlace& place) noexcept;
  const Rows<jitquill_frame_event>& rows() const noexcept { return events_tracker_.events().rows(); }
  // Of the last function, where its prolog was as its frame says.
  const FrameState& body() const noexcept { return body_; }

 private:
  // Replays one of the two at its real offset.
  class Scratch : public asmjit::x86::Assembler {
   public:
    Scratch(asmjit::CodeHolder* code, FrameTracker& tracker) noexcept
        : asmjit::x86::Assembler(code), tracker_(tracker) {}
    asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                        const asmjit::Operand_& o2, const asmjit::Operand_* more) override;
    std::uint32_t place = 0;         // of the scratch buffer's first byte in the real section
    std::uint32_t return_place = 0;  // of ret, where it does not follow; 0 = it does
    std::size_t return_at = 0;       // where ret began in the scratch buffer
    std::uint32_t stack_instructions = 0;

   private:
    FrameTracker& tracker_;
  };

  void run(Scratch& scratch, const asmjit::FuncFrame& frame, const FunctionPlace& place) noexcept;

  EmitterNotes notes_;
  FrameTracker& events_tracker_;
  FrameState body_;
};

inline asmjit::Error FrameReplay::Scratch::_emit(asmjit::InstId id, const asmjit::Operand_& o0,
                                                 const asmjit::Operand_& o1, const asmjit::Operand_& o2,
                                                 const asmjit::Operand_* more) {
  const std::size_t start = offset();
  const asmjit::Error error = asmjit::x86::Assembler::_emit(id, o0, o1, o2, more);
  if (error != kNoError) return error;
  const asmjit::Operand_ operands[] = {o0, o1, o2};
  std::uint32_t count = 0;
  while (count < 3 && !operands[count].JITQUILL_ASMJIT(isNone, is_none)()) ++count;
  stack_instructions += moves_stack(id, operands, count) ? 1 : 0;
  std::uint32_t real = place + static_cast<std::uint32_t>(start);
  if (id == Inst::kIdRet) {
    return_at = start;
    if (return_place != 0) real = return_place;
  }
  tracker_.instruction({id, operands, count, real, real + static_cast<std::uint32_t>(offset() - start)});
  return error;
}

inline void FrameReplay::run(Scratch& scratch, const asmjit::FuncFrame& frame,
                             const FunctionPlace& place) noexcept {
  FrameEvents& events = events_tracker_.events();
  const auto differs = [&](std::size_t from, std::size_t to, std::uint32_t real) {
    const std::size_t size = to - from;
    if (size == 0) return false;  // then there may be no buffer either
    return real + size > place.end || std::memcmp(scratch.JITQUILL_ASMJIT(bufferData, buffer_data)() + from,
                                                  place.bytes + real, size) != 0;
  };
  scratch.place = place.prolog;
  if (scratch.JITQUILL_ASMJIT(emitProlog, emit_prolog)(frame) != kNoError ||
      differs(0, scratch.offset(), place.prolog))
    return events.refuse(Refusal::kBytesDiffer);
  const std::size_t prolog_size = scratch.offset();
  body_ = events.state();
  scratch.place = place.exit - static_cast<std::uint32_t>(prolog_size);
  scratch.return_place =
      place.return_site == 0 ? 0 : place.return_site + static_cast<std::uint32_t>(kSledSize);
  if (scratch.JITQUILL_ASMJIT(emitEpilog, emit_epilog)(frame) != kNoError)
    return events.refuse(Refusal::kBytesDiffer);
  const auto before_return = place.exit + static_cast<std::uint32_t>(scratch.return_at - prolog_size);
  const std::uint32_t return_place = scratch.return_place == 0 ? before_return : scratch.return_place;
  // Between the two there is nothing but the site and its padding.
  const bool is_apart =
      place.return_site != 0 && place.return_site - before_return >= std::uint32_t{kSledAlignment};
  if (is_apart || differs(prolog_size, scratch.return_at, place.exit) ||
      differs(scratch.return_at, scratch.offset(), return_place))
    return events.refuse(Refusal::kBytesDiffer);
  if (events_tracker_.last_end() < place.end) events_tracker_.resume(body_);  // out-of-line code
  if (scratch.stack_instructions != place.stack_instructions) events.refuse(Refusal::kBodyMovesStack);
}

inline KnownFunction FrameReplay::replay(const asmjit::BaseEmitter& emitter, const asmjit::FuncFrame& frame,
                                         const FunctionPlace& place) noexcept {
  const bool keeps_frame_pointer = frame.JITQUILL_ASMJIT(hasPreservedFP, has_preserved_fp)();
  events_tracker_.begin(place.entry, {preserved_by(frame), keeps_frame_pointer});
  asmjit::CodeHolder code;
  if (code.init(emitter.environment()) == kNoError) {
    Scratch scratch(&code, events_tracker_);
    scratch.JITQUILL_ASMJIT(addEncodingOptions, add_encoding_options)(
        emitter.JITQUILL_ASMJIT(encodingOptions, encoding_options)());
    run(scratch, frame, place);
  } else {
    events_tracker_.events().refuse(Refusal::kNoMemory);
  }
  return notes_.current();
}

}  // namespace jitquill::asmjit_detail
