// Frames of Compiler functions that move the stack pointer in their bodies, or have more epilogs than asmjit
// gave them (tail calls that a pass made): all nodes are emitted once more into a scratch holder, and every
// instruction is seen.
//
// Context   the thread that adds the code; the emitter rests. Costs about what finalize() did after the
//           passes: only for functions that need it.
// Promises  offsets are exact: each replayed instruction that moves the stack pointer has the real one's
//           bytes at the real one's place, and all together are as long, or the frames are refused.
#pragma once

#include <jitquill/asmjit/announced.hpp>
#include <jitquill/asmjit/holder_access.hpp>

namespace jitquill::asmjit_detail {

// As WatchedAssembler, in another holder than the nodes are of: sections are found by their ids.
class NodeScratch : public WatchedAssembler {
 public:
  NodeScratch(asmjit::CodeHolder* scratch, EmitterNotes* notes, const asmjit::CodeHolder& real) noexcept
      : WatchedAssembler(scratch, notes), real_(real) {}

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                      const asmjit::Operand_& o2, const asmjit::Operand_* more) override {
    const std::size_t start = offset();
    const asmjit::Error error = WatchedAssembler::_emit(id, o0, o1, o2, more);
    const asmjit::Operand_ operands[] = {o0, o1, o2};
    if (error == kNoError && moves_stack(id, operands, 3)) compare(start);
    return error;
  }
  asmjit::Error section(asmjit::Section* section) override {
    return WatchedAssembler::section(code()->JITQUILL_ASMJIT(sectionById, section_by_id)(section->id()));
  }
  bool is_same() noexcept {
    return is_same_ && real_section().JITQUILL_ASMJIT(bufferSize, buffer_size)() == offset();
  }

 private:
  const asmjit::Section& real_section() noexcept {
    const std::uint32_t id = JITQUILL_ASMJIT(currentSection, current_section)()->id();
    return *real_.JITQUILL_ASMJIT(sectionById, section_by_id)(id);
  }
  void compare(std::size_t start) noexcept {
    const asmjit::Section& real = real_section();
    const std::size_t end = offset();
    if (end > real.JITQUILL_ASMJIT(bufferSize, buffer_size)() ||
        std::memcmp(JITQUILL_ASMJIT(bufferData, buffer_data)() + start, real.data() + start, end - start) !=
            0)
      is_same_ = false;
  }

  const asmjit::CodeHolder& real_;
  bool is_same_ = true;
};

class NodeReplay {
 public:
  // Each function of the emitter, before run(), with the frame that asmjit's own prolog makes.
  void put(const asmjit::FuncNode& node, const FrameState& body) noexcept;
  // Of one function alone: labels of loops that are entered in their middle have the frame of its body.
  void assume(const FrameState& body) noexcept { notes_.tracker.assume(body); }
  // False: nothing is known.
  bool run(asmjit::BaseCompiler& compiler) noexcept;
  // The function that begins at `offset` in its section; refusal kBodyMovesStack where there is none.
  KnownFunction at(std::uint32_t offset) const noexcept;
  const Rows<jitquill_frame_event>& rows() const noexcept { return notes_.tracker.events().rows(); }

 private:
  asmjit::Error copy_names(const asmjit::CodeHolder& real, asmjit::CodeHolder& scratch,
                           asmjit::BaseEmitter& emitter) noexcept;
  EmitterNotes notes_;
};

// asmjit's own epilog, behind the exit label, expects the body's frame, even where no jump goes there.
inline void NodeReplay::put(const asmjit::FuncNode& node, const FrameState& body) noexcept {
  const asmjit::FuncFrame& frame = node.frame();
  const bool keeps_frame_pointer = frame.JITQUILL_ASMJIT(hasPreservedFP, has_preserved_fp)();
  notes_.starts.put({node.label().id(), true, {preserved_by(frame), keeps_frame_pointer}});
  notes_.tracker.expect(node.JITQUILL_ASMJIT(exitLabel, exit_label)().id(), body);
}

// Sections and labels with the ids that they have in the real holder.
inline asmjit::Error NodeReplay::copy_names(const asmjit::CodeHolder& real, asmjit::CodeHolder& scratch,
                                            asmjit::BaseEmitter& emitter) noexcept {
  asmjit::Error error = scratch.init(real.environment());
  const std::uint32_t sections = real.JITQUILL_ASMJIT(sectionCount, section_count)();
  for (std::uint32_t id = 1; id < sections && error == kNoError; ++id) {
    const asmjit::Section& section = *real.JITQUILL_ASMJIT(sectionById, section_by_id)(id);
    asmjit::Section* made = nullptr;
    error = scratch.JITQUILL_ASMJIT(newSection, new_section)(JITQUILL_ASMJIT(&made, asmjit::Out(made)),
                                                             section.name(), SIZE_MAX, section.flags(),
                                                             section.alignment());
  }
  if (error == kNoError) error = scratch.attach(&emitter);
  const auto labels = static_cast<std::uint32_t>(real.JITQUILL_ASMJIT(labelCount, label_count)());
  for (std::uint32_t id = 0; id < labels && error == kNoError; ++id)
    if (emitter.JITQUILL_ASMJIT(newLabel, new_label)().id() != id) error = kOutOfMemory;
  return error;
}

inline bool NodeReplay::run(asmjit::BaseCompiler& compiler) noexcept {
  asmjit::CodeHolder& real = *compiler.code();
  asmjit::CodeHolder code;
  NodeScratch scratch(nullptr, &notes_, real);
  scratch.JITQUILL_ASMJIT(addEncodingOptions, add_encoding_options)(
      compiler.JITQUILL_ASMJIT(encodingOptions, encoding_options)());
  const bool is_run = copy_names(real, code, scratch) == kNoError &&
                      compiler.JITQUILL_ASMJIT(serializeTo, serialize_to)(&scratch) == kNoError;
  if (!is_run || !scratch.is_same()) return false;
  if (notes_.tracker.started()) notes_.functions.put(notes_.current());
  return true;
}

inline KnownFunction NodeReplay::at(std::uint32_t offset) const noexcept {
  for (const KnownFunction& known : notes_.functions)
    if (known.start == offset) return known;
  KnownFunction none;
  none.refusal = Refusal::kBodyMovesStack;
  return none;
}

}  // namespace jitquill::asmjit_detail
