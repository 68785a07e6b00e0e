// Where the collector finds references: each function that has any keeps a Frame (object.hpp) on its stack,
// with a slot for each variable, and for each other value that must outlive a collection. Objects never move,
// so registers stay right whatever the register allocator does: a slot is written when its value is made, and
// read by the collector alone.
#include <algorithm>
#include <cstddef>

#include "nib/lowering.hpp"

namespace nib {

namespace x86 = asmjit::x86;

// Of a compare. A mov of a word at a fixed address wants rax.
x86::Mem FunctionLowering::thread_word(std::size_t offset) const {
  const auto place = static_cast<std::uint64_t>(thread_words_offset() + static_cast<std::int64_t>(offset));
  x86::Mem word = x86::ptr_abs(place, sizeof(std::uint64_t));
  word.setSegment(x86::fs);
  return word;
}

// Of a mov.
x86::Mem FunctionLowering::thread_word_by_register(std::size_t offset) {
  const Gp place = cc_.newIntPtr();
  cc_.mov(place, asmjit::imm(thread_words_offset() + static_cast<std::int64_t>(offset)));
  x86::Mem word = x86::ptr(place, 0, sizeof(std::uint64_t));
  word.setSegment(x86::fs);
  return word;
}

// 0 and 1: the head.
x86::Mem FunctionLowering::frame_word(std::size_t index) const {
  x86::Mem word = frame_.cloneAdjusted(static_cast<std::int64_t>(index * sizeof(std::int64_t)));
  word.setSize(sizeof(std::int64_t));
  return word;
}

std::uint32_t FunctionLowering::new_slot() {
  constexpr std::uint32_t kFirst = sizeof(Frame) / sizeof(std::int64_t);
  const std::uint32_t slot = used_slots_++;
  slot_count_ = std::max(slot_count_, used_slots_);
  return kFirst + slot;
}

FunctionLowering::Value FunctionLowering::held(const Value& value, Type type, bool while_collecting) {
  const bool is_known = !type.is_reference() || value.kind != Value::Kind::kTemporary;
  if (while_collecting && !is_known) cc_.mov(frame_word(new_slot()), value.gp());
  return value;
}

// Emitted last, when all slots are known, and put first: parameters are held when the first poll comes.
void FunctionLowering::enter_frame() {
  asmjit::BaseNode* const end = cc_.setCursor(entry_);
  if (form_.entry == Form::Entry::kBlock) take_passed();
  entry_ = cc_.setCursor(end);
  if (!has_frame()) return;
  cc_.setStackSize(frame_, static_cast<std::uint32_t>(sizeof(Frame) + slot_count_ * sizeof(std::int64_t)));
  asmjit::BaseNode* const last = cc_.setCursor(entry_);
  const Gp link = cc_.newUIntPtr();
  const x86::Mem frames = thread_word_by_register(offsetof(ThreadWords, frames));
  cc_.mov(link, frames);
  cc_.mov(frame_word(0), link);
  cc_.mov(frame_word(1), asmjit::imm(slot_count_));
  for (std::uint32_t i = 0; i < slot_count_; ++i) {
    const std::uint32_t slot = sizeof(Frame) / sizeof(std::int64_t) + i;
    if (Reg reg; is_held_at_entry(slot, reg)) {
      cc_.mov(frame_word(slot), reg.as<Gp>());
    } else {
      cc_.mov(frame_word(slot), asmjit::imm(0));
    }
  }
  cc_.lea(link, frame_);
  cc_.mov(frames, link);
  cc_.setCursor(last);
}

bool FunctionLowering::is_held_at_entry(std::uint32_t slot, Reg& reg) const {
  const auto variable = std::find_if(entry_scope_.begin(), entry_scope_.end(),
                                     [&](std::uint32_t each) { return inlining_.slots[each] == slot; });
  if (variable == entry_scope_.end()) return false;
  reg = inlining_.variables[*variable];
  return true;
}

void FunctionLowering::leave_frame() {
  if (!has_frame()) return;
  const Gp link = cc_.newUIntPtr();
  cc_.mov(link, frame_word(0));
  cc_.mov(thread_word_by_register(offsetof(ThreadWords, frames)), link);
}

}  // namespace nib
