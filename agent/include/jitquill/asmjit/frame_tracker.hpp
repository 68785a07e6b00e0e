// Follows emitted instructions and says what each does to the frame. This is the only place that knows
// instructions: it reads what asmjit was asked to encode, so nothing is decoded.
//
// Context   the thread that emits.
// Promises  events for exactly what was seen. What it does not understand is refused, never guessed: the
//           stack pointer written in another way, a preserved register overwritten before it is saved, code
//           behind a ret or jmp that nothing before it jumps to.
// Does not  see bytes that are embedded, or written without _emit; they are taken to leave the frame alone.
#pragma once

#include <jitquill/asmjit/frame_state.hpp>
#include <jitquill/asmjit/instruction.hpp>

namespace jitquill::asmjit_detail {

// What a function's convention says of registers.
struct Convention {
  std::uint32_t preserved = kPreservedRegisters;
  // Does rbp, once set to the stack pointer, stay so? If not, the body may overwrite it unseen.
  bool keeps_frame_pointer = true;
};

class FrameTracker {
 public:
  void begin(std::uint32_t offset, const Convention& convention = {}) noexcept;
  // Of the function under way.
  void follow(const Convention& convention) noexcept { convention_ = convention; }
  void instruction(const Instruction& inst) noexcept;
  void label(std::uint32_t id, std::uint32_t offset) noexcept;
  // The label is reached with this frame, too.
  void expect(std::uint32_t label, const FrameState& state) noexcept;
  // A label that only later jumps lead to is taken to have this frame; they must agree.
  void assume(const FrameState& state) noexcept { assumed_ = &state; }
  // Behind a ret: the frame is `wanted` again.
  void resume(const FrameState& wanted) noexcept {
    copies_.fill(0);
    events_.resume(wanted, last_end_);
    alive_ = true;
  }
  void clear() noexcept;

  bool alive() const noexcept { return alive_; }  // can control reach the present point?
  bool started() const noexcept { return started_; }
  bool empty_function() const noexcept { return started_ && last_end_ == events_.start() && alive_; }
  std::uint32_t last_end() const noexcept { return last_end_; }
  FrameEvents& events() noexcept { return events_; }
  const FrameEvents& events() const noexcept { return events_; }

 private:
  bool apply(const Instruction& inst) noexcept;
  void other_instruction(const Instruction& inst) noexcept;
  void push(const Instruction& inst) noexcept;
  void pop(const Instruction& inst) noexcept;
  bool stack_arithmetic(const Instruction& inst) noexcept;
  bool align_stack(const Instruction& inst) noexcept;
  bool load_stack_pointer(const Instruction& inst) noexcept;
  bool move(const Instruction& inst) noexcept;
  bool copy_stack_pointer(const Instruction& inst) noexcept;
  bool move_to_stack_pointer(const Instruction& inst) noexcept;
  bool move_frame_to_memory(const Instruction& inst) noexcept;
  bool move_saved(const Instruction& inst) noexcept;
  void pop_saved(std::uint32_t reg, std::uint32_t at) noexcept;
  void leave(std::uint32_t at) noexcept;
  void lose_frame_register(std::uint32_t at) noexcept;
  void check_writes(const Instruction& inst) noexcept;
  void check_write(std::uint32_t reg, const Instruction& inst) noexcept;
  bool slot_below(const asmjit::Operand_& operand, std::uint32_t& below) const noexcept;

  const FrameState& state() const noexcept { return events_.state(); }
  const ToldFrame& told() const noexcept { return events_.state().told; }
  bool is_preserved(std::uint32_t reg) const noexcept { return (convention_.preserved >> reg & 1) != 0; }

  FrameEvents events_;
  Rows<std::uint32_t> label_states_;  // by label id: index into states_ + 1, or 0
  Rows<FrameState> states_;
  // CFA - what the register holds, where that was the stack pointer a moment ago; 0 = unknown.
  std::array<std::uint32_t, kRegisters> copies_{};
  Convention convention_;
  std::uint32_t last_end_ = 0;
  const FrameState* assumed_ = nullptr;
  bool alive_ = false;
  bool started_ = false;
};

inline void FrameTracker::begin(std::uint32_t offset, const Convention& convention) noexcept {
  events_.begin(offset);
  convention_ = convention;
  copies_.fill(0);
  last_end_ = offset;
  alive_ = started_ = true;
}

inline void FrameTracker::clear() noexcept {
  events_.clear();
  label_states_.clear();
  states_.clear();
  last_end_ = 0;
  alive_ = started_ = false;
}

inline void FrameTracker::instruction(const Instruction& inst) noexcept {
  if (!started_) begin(inst.start);
  if (inst.start < last_end_) return events_.refuse(Refusal::kRewritten);
  last_end_ = inst.end;
  const bool is_trap = inst.id == Inst::kIdUd2 || inst.id == Inst::kIdInt3;
  if (!alive_ && !is_trap) events_.refuse(Refusal::kUnknownState);  // a trap there is padding
  if (events_.refusal() != Refusal::kNone) return;
  const bool is_call = inst.id == Inst::kIdCall;
  for (std::uint32_t i = 0; i < inst.count && !is_call; ++i)
    if (inst.operands[i].JITQUILL_ASMJIT(isLabel, is_label)()) expect(inst.operands[i].id(), state());
  if (inst.id == Inst::kIdRet || inst.id == Inst::kIdJmp || inst.id == Inst::kIdUd2)
    alive_ = false;
  else if (!apply(inst))
    other_instruction(inst);
}

// False: it may write registers, but does nothing else to the frame.
inline bool FrameTracker::apply(const Instruction& inst) noexcept {
  switch (inst.id) {
    case Inst::kIdPush:
      push(inst);
      return true;
    case Inst::kIdPop:
      pop(inst);
      return true;
    case Inst::kIdPushfq:
      events_.move_stack(kWord, inst.end);
      return true;
    case Inst::kIdPopfq:
      events_.move_stack(-std::int64_t{kWord}, inst.end);
      return true;
    case Inst::kIdPushf:
    case Inst::kIdPopf:
    case Inst::kIdEnter:
      events_.refuse(Refusal::kStackPointer);
      return true;
    case Inst::kIdLeave:
      leave(inst.end);
      return true;
    case Inst::kIdAdd:
    case Inst::kIdSub:
      return stack_arithmetic(inst);
    case Inst::kIdAnd:
      return align_stack(inst);
    case Inst::kIdLea:
      return load_stack_pointer(inst);
    case Inst::kIdMov:
      return move(inst);
    default:
      return false;
  }
}

// What asmjit does not name as operands may be overwritten too: rax, rcx, rdx, rsi, rdi and r11 by many, rbx
// by cpuid. A call leaves only what the convention preserves.
inline void FrameTracker::other_instruction(const Instruction& inst) noexcept {
  constexpr std::uint32_t kWrittenUnnamed = 0x08C7;
  check_writes(inst);
  if (events_.refusal() != Refusal::kNone) return;
  if (inst.id == Inst::kIdCpuid) check_write(kBx, inst);
  if (inst.id == Inst::kIdMov || inst.id == Inst::kIdLea) return;
  copies_.fill(0);
  const std::uint32_t lost = inst.id == Inst::kIdCall ? ~convention_.preserved : kWrittenUnnamed;
  if (told().has_frame_register() && (lost >> told().frame_register & 1) != 0) lose_frame_register(inst.end);
}

inline void FrameTracker::push(const Instruction& inst) noexcept {
  const asmjit::Operand_& what = inst.operands[0];
  if (operand_size(what) == 2) return events_.refuse(Refusal::kStackPointer);
  // check_write() sees to it that a preserved register that was not saved still has the caller's value.
  const bool saves =
      is_gp(what) && is_preserved(what.id()) && told().saved[what.id()] == 0 && state().is_exact();
  if (saves)
    events_.push(what.id(), inst.end);
  else
    events_.move_stack(kWord, inst.end);
}

inline void FrameTracker::pop(const Instruction& inst) noexcept {
  const asmjit::Operand_& what = inst.operands[0];
  if (operand_size(what) == 2 || inst.is_reg(0, kSp)) return events_.refuse(Refusal::kStackPointer);
  if (is_gp(what) && state().is_exact() && told().saved[what.id()] == told().depth) {
    return pop_saved(what.id(), inst.end);
  }
  check_writes(inst);
  events_.move_stack(-std::int64_t{kWord}, inst.end);
}

// add/sub rsp, imm
inline bool FrameTracker::stack_arithmetic(const Instruction& inst) noexcept {
  if (!inst.is_reg(0, kSp) || inst.count < 2 || !inst.operands[1].JITQUILL_ASMJIT(isImm, is_imm)())
    return false;
  const std::int64_t bytes = inst.operands[1].as<asmjit::Imm>().value();
  if (bytes != static_cast<std::int32_t>(bytes)) return false;
  events_.move_stack(inst.id == Inst::kIdSub ? bytes : -bytes, inst.end);
  return true;
}

// and rsp, -alignment: from here on the frame must be found through a register that still knows the old
// value.
inline bool FrameTracker::align_stack(const Instruction& inst) noexcept {
  if (!inst.is_reg(0, kSp) || inst.count < 2 || !inst.operands[1].JITQUILL_ASMJIT(isImm, is_imm)())
    return false;
  const std::int64_t mask = inst.operands[1].as<asmjit::Imm>().value();
  if (mask >= 0 || told().is_in_memory()) return false;
  if (!told().has_frame_register()) {
    std::uint32_t reg = 0;
    while (reg < kRegisters && copies_[reg] != told().depth) ++reg;
    if (reg == kRegisters) return false;
    events_.set_frame(reg, inst.end);
  }
  events_.align_stack();
  return true;
}

// lea rsp, [rsp + x] or [rbp - x]
inline bool FrameTracker::load_stack_pointer(const Instruction& inst) noexcept {
  std::uint32_t below = 0;
  if (!inst.is_reg(0, kSp) || inst.count < 2 || !slot_below(inst.operands[1], below)) return false;
  events_.set_depth(below, inst.end);
  return true;
}

inline bool FrameTracker::move(const Instruction& inst) noexcept {
  if (inst.count < 2) return false;
  return copy_stack_pointer(inst) || move_to_stack_pointer(inst) || move_frame_to_memory(inst) ||
         move_saved(inst);
}

// mov reg, rsp. The frame is found through rbp from there on, through another register only if that is
// needed.
inline bool FrameTracker::copy_stack_pointer(const Instruction& inst) noexcept {
  if (!inst.is_reg(1, kSp) || !is_gp(inst.operands[0]) || inst.is_reg(0, kSp) || !state().is_exact())
    return false;
  const std::uint32_t reg = inst.operands[0].id();
  const bool is_frame_pointer = reg == kBp && convention_.keeps_frame_pointer && told().saved[kBp] != 0;
  if (is_frame_pointer)
    events_.set_frame(kBp, inst.end);
  else
    check_writes(inst);
  copies_[reg] = told().depth;
  return true;
}

// mov rsp, reg; mov rsp, [rsp + word]
inline bool FrameTracker::move_to_stack_pointer(const Instruction& inst) noexcept {
  if (!inst.is_reg(0, kSp)) return false;
  const asmjit::Operand_& from = inst.operands[1];
  if (told().is_in_memory()) {
    if (!is_stack_word(from) || from.as<asmjit::x86::Mem>().offset() != told().frame_word) return false;
    events_.drop_frame(told().frame_offset, inst.end);
    return true;
  }
  if (!is_gp(from)) return false;
  const bool is_frame = told().has_frame_register() && from.id() == told().frame_register;
  const std::uint32_t depth = is_frame ? told().frame_offset : copies_[from.id()];
  if (depth == 0) return false;
  events_.set_depth(depth, inst.end);
  return true;
}

// mov [rsp + word], frame register, in an aligned stack: the register is free from here on.
inline bool FrameTracker::move_frame_to_memory(const Instruction& inst) noexcept {
  if (!state().is_aligned() || !told().has_frame_register() || !inst.is_reg(1, told().frame_register))
    return false;
  if (!is_stack_word(inst.operands[0])) return false;
  const std::int64_t word = inst.operands[0].as<asmjit::x86::Mem>().offset();
  if (word < 0 || word > INT32_MAX / 2) return false;
  events_.put_frame_in_memory(static_cast<std::uint32_t>(word), inst.end);
  return true;
}

// Stores and loads of saved registers. False: nothing of the kind.
inline bool FrameTracker::move_saved(const Instruction& inst) noexcept {
  std::uint32_t below = 0;
  for (std::uint32_t reg = 0; reg < kRegisters; ++reg) {
    if (!is_preserved(reg)) continue;
    const std::uint32_t saved = told().saved[reg];
    if (inst.is_reg(1, reg) && saved == 0 && slot_below(inst.operands[0], below) && below > kWord &&
        below <= state().least_depth() && below % kWord == 0) {
      events_.save(reg, below, inst.end);
      return true;
    }
    if (inst.is_reg(0, reg) && saved != 0 && slot_below(inst.operands[1], below) && below == saved &&
        reg != told().frame_register) {
      copies_[reg] = 0;
      events_.restore(reg, inst.end);
      return true;
    }
  }
  return false;
}

inline void FrameTracker::pop_saved(std::uint32_t reg, std::uint32_t at) noexcept {
  copies_[reg] = 0;
  events_.pop(reg, at);
}

// mov rsp, rbp; pop rbp
inline void FrameTracker::leave(std::uint32_t at) noexcept {
  if (told().frame_register != kBp || told().saved[kBp] != told().frame_offset)
    return events_.refuse(Refusal::kStackPointer);
  pop_saved(kBp, at);
}

// How far below the CFA a plain [rsp + x] or [frame register + x] lies; false where that is not known.
inline bool FrameTracker::slot_below(const asmjit::Operand_& operand, std::uint32_t& below) const noexcept {
  if (!is_plain_word(operand)) return false;
  const auto& mem = operand.as<asmjit::x86::Mem>();
  const std::uint32_t reg = mem.JITQUILL_ASMJIT(baseId, base_id)();
  std::int64_t base = 0;
  if (reg == kSp && state().is_exact())
    base = told().depth;
  else if (reg != kSp && reg == told().frame_register)
    base = told().frame_offset;
  else
    return false;
  const std::int64_t distance = base - mem.offset();
  if (distance < kWord || distance > INT32_MAX / 2) return false;
  below = static_cast<std::uint32_t>(distance);
  return true;
}

// While the stack pointer's distance from the CFA is known, it can take over.
inline void FrameTracker::lose_frame_register(std::uint32_t at) noexcept {
  if (!state().is_exact()) return events_.refuse(Refusal::kFramePointer);
  events_.drop_frame(told().depth, at);
}

// Refuses what overwrites the stack pointer, or a caller's value that is nowhere else.
inline void FrameTracker::check_writes(const Instruction& inst) noexcept {
  for (std::uint32_t i = 0; i < inst.count; ++i) {
    const asmjit::Operand_& operand = inst.operands[i];
    if (!is_gp(operand) || operand.id() >= kRegisters) continue;
    const std::uint32_t reg = operand.id();
    const bool matters = reg == kSp || reg == told().frame_register || copies_[reg] != 0 ||
                         (is_preserved(reg) && told().saved[reg] == 0);
    if (!matters) continue;
    asmjit::InstRWInfo rw;
    const asmjit::BaseInst base(inst.id);
    const asmjit::Error error = asmjit::InstAPI::JITQUILL_ASMJIT(queryRWInfo, query_rw_info)(
        asmjit::Arch::kX64, base, inst.operands, inst.count, &rw);
    if (error == kNoError && !rw.operand(i).JITQUILL_ASMJIT(isWrite, is_write)()) continue;
    check_write(reg, inst);
  }
}

inline void FrameTracker::check_write(std::uint32_t reg, const Instruction& inst) noexcept {
  copies_[reg] = 0;
  if (reg == kSp) {
    const bool is_aligning = inst.id == Inst::kIdAnd || state().is_aligned();
    events_.refuse(told().is_in_memory() ? Refusal::kFrameInMemory
                   : is_aligning         ? Refusal::kDynamicAlignment
                                         : Refusal::kStackPointer);
  } else if (is_preserved(reg) && told().saved[reg] == 0) {
    events_.refuse(state().is_exact() ? Refusal::kClobbered : Refusal::kDynamicAlignment);
  } else if (reg == told().frame_register) {
    lose_frame_register(inst.end);
  }
}

inline void FrameTracker::expect(std::uint32_t label, const FrameState& state) noexcept {
  while (label_states_.size() <= label)
    if (!label_states_.put(0)) return events_.refuse(Refusal::kNoMemory);
  const std::uint32_t known = label_states_[label];
  if (known != 0 && !(states_[known - 1] == state)) return events_.refuse(Refusal::kUnequalStates);
  if (known != 0) return;
  if (states_.empty() || !(states_.back() == state))
    if (!states_.put(state)) return events_.refuse(Refusal::kNoMemory);
  label_states_[label] = static_cast<std::uint32_t>(states_.size());
}

inline void FrameTracker::label(std::uint32_t id, std::uint32_t offset) noexcept {
  if (!started_) begin(offset);
  if (offset < last_end_) return events_.refuse(Refusal::kRewritten);
  if (events_.refusal() != Refusal::kNone) return;
  copies_.fill(0);
  if (alive_) return expect(id, state());  // a jump back must find the same frame
  const std::uint32_t known = id < label_states_.size() ? label_states_[id] : 0;
  if (known != 0) return resume(FrameState(states_[known - 1]));
  if (assumed_ == nullptr) return;
  resume(*assumed_);
  expect(id, *assumed_);
}

}  // namespace jitquill::asmjit_detail
