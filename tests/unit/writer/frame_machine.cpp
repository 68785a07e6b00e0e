#include "tests/unit/writer/frame_machine.hpp"

#include <algorithm>

namespace jitquill::tests {
namespace {

constexpr std::uint8_t kRbp = 6;
constexpr std::uint8_t kR10 = 10;
constexpr std::uint8_t kReturnColumn = 16;

}  // namespace

std::uint64_t FrameMachine::Moment::load(std::uint64_t address) const {
  const auto found = memory.find(address);
  return found == memory.end() ? 0 : found->second;
}

FrameMachine::FrameMachine(std::uint32_t seed) : random_(seed) {
  for (std::uint64_t& value : now_.registers) value = (std::uint64_t{random_()} << 32) | random_();
  sp() = 0x7fff0000f008;
  caller_ = now_.registers;
  caller_sp_ = sp();
  sp() -= 8;
  now_.memory[sp()] = caller_[kReturnColumn];
}

void FrameMachine::instruction() {
  constexpr std::uint32_t kSizes[] = {1, 3, 10, 63, 64, 200, 256, 3000, 70000};
  const std::uint32_t size = pick(8) == 0 ? kSizes[pick(9)] : 1 + pick(10);
  moments_.push_back({offset_, offset_ + size, now_.registers, now_.memory});
  offset_ += size;
}

void FrameMachine::tell(FrameEventKind kind, std::uint8_t reg, std::uint32_t value) {
  events_.push_back({offset_, kind, reg, value});
}

bool FrameMachine::is_saved(std::uint8_t reg) const {
  return now_.slots.contains(reg) ||
         std::ranges::any_of(now_.items, [&](const Item& item) { return item.saved == reg; });
}

bool FrameMachine::depth_is_known() const {
  return std::ranges::all_of(now_.items, &Item::is_told);
}

// Behind an alloca a push is scratch: where it lies is known to nobody but the stack pointer.
void FrameMachine::push() {
  const std::uint8_t reg = kCalleeSaved[pick(kCalleeSaved.size())];
  const bool is_scratch = is_saved(reg) || !depth_is_known();
  instruction();
  sp() -= 8;
  now_.memory[sp()] = now_.registers[reg];
  now_.items.push_back({is_scratch ? kNone : reg, 8, true});
  is_scratch ? tell(FrameEventKind::kAllocate, 0, 8) : tell(FrameEventKind::kPush, reg);
}

// Under a frame register also by an amount that only run time knows: nothing can be told of that.
void FrameMachine::allocate() {
  const std::uint32_t size = 8 * (1 + pick(40));
  const bool is_told = !now_.has_frame || pick(2) == 0;
  instruction();
  sp() -= size;
  now_.items.push_back({kNone, size, is_told});
  if (is_told) tell(FrameEventKind::kAllocate, 0, size);
}

// Into the lowest word of the newest scratch.
void FrameMachine::save_by_mov() {
  const std::uint8_t reg = kCalleeSaved[pick(kCalleeSaved.size())];
  const bool is_taken =
      std::ranges::any_of(now_.slots, [&](const auto& slot) { return slot.second == sp(); });
  if (now_.items.empty() || now_.items.back().saved != kNone || is_saved(reg) || is_taken) return;
  if (!depth_is_known()) return;
  instruction();
  now_.memory[sp()] = now_.registers[reg];
  now_.slots[reg] = sp();
  tell(FrameEventKind::kSave, reg, static_cast<std::uint32_t>(caller_sp_ - sp()));
}

void FrameMachine::set_frame() {
  if (now_.has_frame || now_.items.empty() || now_.items.back().saved != kRbp) return;
  instruction();
  now_.registers[kRbp] = sp();
  now_.has_frame = true;
  tell(FrameEventKind::kSetFrame, kRbp);
}

// mov r10, rsp, or rbp where that is the stack pointer; and rsp, -align; sub rsp, n; mov [rsp + k], r10.
void FrameMachine::align_stack() {
  if (now_.has_frame && now_.items.back().saved != kRbp) return;
  const std::uint8_t reg = now_.has_frame ? kRbp : kR10;
  if (!now_.has_frame) {
    if (!depth_is_known()) return;
    instruction();
    now_.registers[kR10] = sp();
    tell(FrameEventKind::kSetFrame, kR10);
  }
  instruction();
  sp() &= ~std::uint64_t{(32u << pick(3)) - 1};
  const std::uint32_t words = 1 + pick(pick(2) == 0 ? 8 : 600);
  instruction();
  sp() -= 8 * words;
  const std::uint32_t word = 8 * pick(words);
  instruction();
  now_.frame_word = sp() + word;
  now_.memory[now_.frame_word] = now_.registers[reg];
  now_.has_frame = false;
  tell(FrameEventKind::kFrameInMemory, 0, word);
  now_.registers[kR10] = random_();
}

// mov rsp, [rsp + k]
void FrameMachine::end_alignment() {
  instruction();
  sp() = now_.memory[now_.frame_word];
  now_.frame_word = 0;
  std::erase_if(now_.memory, [&](const auto& word) { return word.first < sp(); });
  tell(FrameEventKind::kDropFrame, 0, static_cast<std::uint32_t>(caller_sp_ - sp()));
}

// What was saved may be used for anything: only the stack knows the caller's value from here on.
void FrameMachine::scramble() {
  instruction();
  for (const std::uint8_t reg : kCalleeSaved) {
    if (is_saved(reg) && !(reg == kRbp && now_.has_frame)) now_.registers[reg] = random_();
  }
}

void FrameMachine::drop_top() {
  const Item item = now_.items.back();
  instruction();
  if (item.saved != kNone) {
    now_.registers[item.saved] = now_.memory[sp()];
    if (item.saved == kRbp) now_.has_frame = false;
    tell(FrameEventKind::kPop, item.saved);
  } else if (item.is_told) {
    tell(FrameEventKind::kFree, 0, item.size);
  }
  sp() += item.size;
  now_.items.pop_back();
  std::erase_if(now_.memory, [&](const auto& word) { return word.first < sp(); });
}

void FrameMachine::restore_slots() {
  for (const auto& [reg, slot] : now_.slots) {
    if (reg == kRbp && now_.has_frame) continue;
    instruction();
    now_.registers[reg] = now_.memory[slot];
    tell(FrameEventKind::kRestore, reg);
  }
  now_.slots.clear();
}

// lea rsp, [rbp - n] to the first register pushed below the frame register; what was pushed below that one is
// loaded by mov before.
void FrameMachine::lea_to_first_pushed() {
  const auto frame = std::ranges::find(now_.items, kRbp, &Item::saved);
  std::uint64_t at = now_.registers[kRbp];
  auto first = now_.items.end();
  std::uint64_t first_at = 0;
  for (auto item = frame + 1; item != now_.items.end(); ++item) {
    at -= item->size;
    if (item->saved == kNone) continue;
    if (first == now_.items.end()) {
      first = item;
      first_at = at;
      continue;
    }
    instruction();
    now_.registers[item->saved] = now_.memory[at];
    tell(FrameEventKind::kRestore, item->saved);
  }
  if (first == now_.items.end()) return;
  now_.items.erase(first + 1, now_.items.end());
  instruction();
  sp() = first_at;
}

// The registers pushed below the frame register; then leave, or mov rsp, rbp with or without a word about it
// and pop rbp.
void FrameMachine::leave_frame() {
  const auto is_pushed = [](const Item& item) { return item.saved != kNone; };
  const auto frame = std::ranges::find(now_.items, kRbp, &Item::saved);
  if (!std::all_of(frame, now_.items.end(), is_pushed)) lea_to_first_pushed();
  while (is_pushed(now_.items.back()) && now_.items.back().saved != kRbp) drop_top();
  const std::uint64_t slot = now_.registers[kRbp];
  const auto depth = static_cast<std::uint32_t>(caller_sp_ - slot);
  const std::uint32_t way = pick(3);
  now_.items.erase(std::ranges::find(now_.items, kRbp, &Item::saved) + 1, now_.items.end());
  instruction();
  sp() = slot;
  if (way == 0) {
    now_.registers[kRbp] = now_.memory[slot];
    sp() += 8;
    now_.items.pop_back();
    now_.has_frame = false;
    tell(FrameEventKind::kRestore, kRbp);
    tell(FrameEventKind::kDropFrame, 0, depth - 8);
    return;
  }
  if (way == 1) tell(FrameEventKind::kDropFrame, 0, depth);
  drop_top();
}

void FrameMachine::epilogue() {
  restore_slots();
  if (now_.frame_word != 0) end_alignment();
  if (now_.has_frame) leave_frame();
  while (!now_.items.empty()) drop_top();
  instruction();  // ret
}

void FrameMachine::early_return() {
  const State kept = now_;
  tell(FrameEventKind::kRemember);
  epilogue();
  now_ = kept;
  tell(FrameEventKind::kRecall);
}

void FrameMachine::body_step() {
  if (now_.frame_word != 0) return pick(3) == 0 ? early_return() : scramble();
  switch (pick(13)) {
    case 0:
      return early_return();
    case 1:
    case 2:
      return allocate();
    case 3:
    case 4:
      return save_by_mov();
    case 5:
    case 6:
      return scramble();
    case 7:
    case 8:
      return set_frame();
    case 9:
      return align_stack();
    default:
      return push();
  }
}

void FrameMachine::run() {
  for (std::uint32_t steps = 2 + pick(25); steps != 0; --steps) body_step();
  epilogue();
}

}  // namespace jitquill::tests
