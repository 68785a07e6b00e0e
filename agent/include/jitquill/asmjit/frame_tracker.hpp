// Follows emitted instructions and says what each does to the frame. This is the only place that knows
// instructions: it reads what asmjit was asked to encode, so nothing is decoded.
//
// Context   the thread that emits.
// Promises  events for exactly what was seen. What it does not understand is refused, never guessed: the
// stack
//           pointer written in another way, a preserved register overwritten before it is saved, code behind
//           a ret or jmp that nothing before it jumps to.
// Does not  see bytes that are embedded, or written without _emit; they are taken to leave the frame alone.
#pragma once

#include <jitquill/asmjit/frame_state.hpp>

namespace jitquill::asmjit_detail {

struct Instruction {
  asmjit::InstId id;
  const asmjit::Operand_* operands;  // as many as count
  std::uint32_t count;
  std::uint32_t start, end;  // offsets in the section

  bool is_reg(std::uint32_t index, std::uint32_t reg) const noexcept {
    return index < count && is_gp(operands[index]) && operands[index].id() == reg &&
           operand_size(operands[index]) == kWord;
  }
};

// Does the instruction move the stack pointer? calls and ret leave it as it was, as far as the caller sees.
bool moves_stack(asmjit::InstId id, const asmjit::Operand_* operands, std::uint32_t count) noexcept;

class FrameTracker {
 public:
  void begin(std::uint32_t offset, std::uint32_t preserved = kPreservedRegisters) noexcept;
  void instruction(const Instruction& inst) noexcept;
  void label(std::uint32_t id, std::uint32_t offset) noexcept;
  // Behind a ret: the frame is `wanted` again.
  void resume(const FrameState& wanted) noexcept {
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
  void apply(const Instruction& inst) noexcept;
  void push(const Instruction& inst) noexcept;
  void pop(const Instruction& inst) noexcept;
  bool stack_arithmetic(const Instruction& inst) noexcept;
  bool load_stack_pointer(const Instruction& inst) noexcept;
  bool move_register(const Instruction& inst) noexcept;
  void pop_saved(std::uint32_t reg, std::uint32_t at) noexcept;
  void leave(std::uint32_t at) noexcept;
  void check_writes(const Instruction& inst) noexcept;
  void note_jump(std::uint32_t label) noexcept;
  bool slot_below(const asmjit::Operand_& operand, std::uint32_t& below) const noexcept;

  FrameEvents events_;
  Rows<std::uint32_t> label_states_;  // by label id: index into states_ + 1, or 0
  Rows<FrameState> states_;
  std::uint32_t preserved_ = kPreservedRegisters;
  std::uint32_t last_end_ = 0;
  bool alive_ = false;
  bool started_ = false;
};

inline void FrameTracker::begin(std::uint32_t offset, std::uint32_t preserved) noexcept {
  events_.begin(offset);
  preserved_ = preserved;
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
    if (inst.operands[i].JITQUILL_ASMJIT(isLabel, is_label)()) note_jump(inst.operands[i].id());
  if (inst.id == Inst::kIdRet || inst.id == Inst::kIdJmp || inst.id == Inst::kIdUd2)
    alive_ = false;
  else
    apply(inst);
}

inline void FrameTracker::apply(const Instruction& inst) noexcept {
  switch (inst.id) {
    case Inst::kIdPush:
      return push(inst);
    case Inst::kIdPop:
      return pop(inst);
    case Inst::kIdPushfq:
      return events_.move_stack(kWord, inst.end);
    case Inst::kIdPopfq:
      return events_.move_stack(-std::int64_t{kWord}, inst.end);
    case Inst::kIdPushf:
    case Inst::kIdPopf:
    case Inst::kIdEnter:
      return events_.refuse(Refusal::kStackPointer);
    case Inst::kIdLeave:
      return leave(inst.end);
    case Inst::kIdAdd:
    case Inst::kIdSub:
      if (stack_arithmetic(inst)) return;
      break;
    case Inst::kIdLea:
      if (load_stack_pointer(inst)) return;
      break;
    case Inst::kIdMov:
      if (move_register(inst)) return;
      break;
    default:
      break;
  }
  check_writes(inst);
}

inline void FrameTracker::push(const Instruction& inst) noexcept {
  const asmjit::Operand_& what = inst.operands[0];
  if (operand_size(what) == 2) return events_.refuse(Refusal::kStackPointer);
  const bool is_register = is_gp(what);
  // check_writes() sees to it that a preserved register that was not saved still has the caller's value.
  const bool saves =
      is_register && (preserved_ >> what.id() & 1) != 0 && events_.state().saved[what.id()] == 0;
  if (saves)
    events_.push(what.id(), inst.end);
  else
    events_.move_stack(kWord, inst.end);
}

inline void FrameTracker::pop(const Instruction& inst) noexcept {
  const asmjit::Operand_& what = inst.operands[0];
  if (operand_size(what) == 2 || inst.is_reg(0, kSp)) return events_.refuse(Refusal::kStackPointer);
  const bool is_register = is_gp(what);
  const FrameState& state = events_.state();
  if (is_register && state.saved[what.id()] == state.depth) {
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
  events_.move_stack(inst.id == asmjit::x86::Inst::kIdSub ? bytes : -bytes, inst.end);
  return true;
}

// lea rsp, [rsp + x] or [rbp - x]
inline bool FrameTracker::load_stack_pointer(const Instruction& inst) noexcept {
  std::uint32_t below = 0;
  if (!inst.is_reg(0, kSp) || inst.count < 2 || !slot_below(inst.operands[1], below)) return false;
  events_.move_stack(std::int64_t{below} - events_.state().depth, inst.end);
  return true;
}

// mov rbp, rsp; mov rsp, rbp; stores and loads of saved registers. False: nothing of the kind.
inline bool FrameTracker::move_register(const Instruction& inst) noexcept {
  const FrameState& state = events_.state();
  if (inst.count < 2) return false;
  if (inst.is_reg(0, kBp) && inst.is_reg(1, kSp) && state.saved[kBp] != 0) {
    events_.set_frame(inst.end);
    return true;
  }
  if (inst.is_reg(0, kSp) && inst.is_reg(1, kBp) && state.frame_offset != 0) {
    events_.move_stack(std::int64_t{state.frame_offset} - state.depth, inst.end);
    return true;
  }
  std::uint32_t below = 0;
  for (std::uint32_t reg = 0; reg < kRegisters; ++reg) {
    if ((preserved_ >> reg & 1) == 0) continue;
    if (inst.is_reg(1, reg) && state.saved[reg] == 0 && slot_below(inst.operands[0], below) &&
        below > kWord && below <= state.depth && below % kWord == 0) {
      events_.save(reg, below, inst.end);
      return true;
    }
    if (inst.is_reg(0, reg) && state.saved[reg] != 0 && slot_below(inst.operands[1], below) &&
        below == state.saved[reg] && (reg != kBp || state.frame_offset == 0)) {
      events_.restore(reg, inst.end);
      return true;
    }
  }
  return false;
}

// The frame is found through rbp up to the instruction that pops it.
inline void FrameTracker::pop_saved(std::uint32_t reg, std::uint32_t at) noexcept {
  const bool ends_frame = reg == kBp && events_.state().frame_offset != 0;
  events_.pop(reg, at);
  if (ends_frame) events_.drop_frame(events_.state().depth, at);
}

inline void FrameTracker::leave(std::uint32_t at) noexcept {
  const FrameState& state = events_.state();
  if (state.frame_offset == 0 || state.saved[kBp] != state.frame_offset)
    return events_.refuse(Refusal::kStackPointer);
  events_.move_stack(std::int64_t{state.frame_offset} - state.depth, at);
  if (events_.refusal() == Refusal::kNone) pop_saved(kBp, at);
}

// How far below the CFA a plain [rsp + x] or [rbp + x] lies; false where that is not known.
inline bool FrameTracker::slot_below(const asmjit::Operand_& operand, std::uint32_t& below) const noexcept {
  if (!operand.JITQUILL_ASMJIT(isMem, is_mem)()) return false;
  const auto& mem = operand.as<asmjit::x86::Mem>();
  if (!mem.JITQUILL_ASMJIT(hasBaseReg, has_base_reg)() || mem.JITQUILL_ASMJIT(hasIndex, has_index)())
    return false;
  const FrameState& state = events_.state();
  std::int64_t base = 0;
  if (mem.JITQUILL_ASMJIT(baseId, base_id)() == kSp)
    base = state.depth;
  else if (mem.JITQUILL_ASMJIT(baseId, base_id)() == kBp && state.frame_offset != 0)
    base = state.frame_offset;
  else
    return false;
  const std::int64_t distance = base - mem.offset();
  if (distance < kWord || distance > INT32_MAX) return false;
  below = static_cast<std::uint32_t>(distance);
  return true;
}

// Refuses what overwrites the stack pointer, a frame pointer in use, or a caller's value that is nowhere
// else.
inline void FrameTracker::check_writes(const Instruction& inst) noexcept {
  const FrameState& state = events_.state();
  const auto matters = [&](std::uint32_t reg) {
    if (reg == kSp || (reg == kBp && state.frame_offset != 0)) return true;
    return (preserved_ >> reg & 1) != 0 && state.saved[reg] == 0;
  };
  if (inst.id == Inst::kIdCpuid && matters(kBx)) return events_.refuse(Refusal::kClobbered);
  for (std::uint32_t i = 0; i < inst.count; ++i) {
    const asmjit::Operand_& operand = inst.operands[i];
    if (!is_gp(operand) || operand.id() >= kRegisters) continue;
    if (!matters(operand.id())) continue;
    asmjit::InstRWInfo rw;
    const asmjit::BaseInst base(inst.id);
    const asmjit::Error error = asmjit::InstAPI::JITQUILL_ASMJIT(queryRWInfo, query_rw_info)(
        asmjit::Arch::kX64, base, inst.operands, inst.count, &rw);
    if (error == kNoError && !rw.operand(i).JITQUILL_ASMJIT(isWrite, is_write)()) continue;
    if (operand.id() == kSp)
      return events_.refuse(inst.id == Inst::kIdAnd ? Refusal::kDynamicAlignment : Refusal::kStackPointer);
    const bool frame = operand.id() == kBp && state.frame_offset != 0;
    return events_.refuse(frame ? Refusal::kFramePointer : Refusal::kClobbered);
  }
}

inline void FrameTracker::note_jump(std::uint32_t label) noexcept {
  while (label_states_.size() <= label)
    if (!label_states_.put(0)) return events_.refuse(Refusal::kNoMemory);
  const std::uint32_t known = label_states_[label];
  if (known != 0 && !(states_[known - 1] == events_.state())) return events_.refuse(Refusal::kUnequalStates);
  if (known != 0) return;
  if (states_.empty() || !(states_.back() == events_.state()))
    if (!states_.put(events_.state())) return events_.refuse(Refusal::kNoMemory);
  label_states_[label] = static_cast<std::uint32_t>(states_.size());
}

inline void FrameTracker::label(std::uint32_t id, std::uint32_t offset) noexcept {
  if (!started_) begin(offset);
  if (offset < last_end_) return events_.refuse(Refusal::kRewritten);
  if (events_.refusal() != Refusal::kNone) return;
  if (alive_) return note_jump(id);  // a jump back must find the same frame
  const std::uint32_t known = id < label_states_.size() ? label_states_[id] : 0;
  if (known != 0) resume(FrameState(states_[known - 1]));
}

inline bool moves_stack(asmjit::InstId id, const asmjit::Operand_* operands, std::uint32_t count) noexcept {
  switch (id) {
    case Inst::kIdPush:
    case Inst::kIdPop:
    case Inst::kIdPushf:
    case Inst::kIdPopf:
    case Inst::kIdPushfq:
    case Inst::kIdPopfq:
    case Inst::kIdEnter:
    case Inst::kIdLeave:
      return true;
    case Inst::kIdCmp:
    case Inst::kIdTest:
      return false;
    default:
      return count != 0 && is_gp(operands[0]) && operands[0].id() == kSp;
  }
}

}  // namespace jitquill::asmjit_detail
