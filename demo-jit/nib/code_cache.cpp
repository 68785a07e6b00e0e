// The code cache of a program whose code has a limit: functions are compiled when they are called, what was
// not called lately is unloaded, and what stays is moved together.
//
// A function without code is led to a stub, which asks for it. So is each when room was made: whoever is
// called after that says so once, and is not cold when room is made again.
#include <algorithm>
#include <vector>

#include "nib/executable.hpp"

namespace nib {

namespace x86 = asmjit::x86;

namespace {

constexpr std::size_t kStubSize = 16;
constexpr std::uint32_t kMostTimes = 64;

}  // namespace

bool Executable::make_stubs(Diagnostics& diagnostics) {
  asmjit::CodeHolder code;
  code.init(memory_.environment());
  jitquill::Announced<x86::Assembler> a(&code);
  const asmjit::Label common = a.newLabel();
  for (std::uint32_t i = 0; i < table_.size(); ++i) {
    a.mov(x86::eax, i);
    // Always taken, but the frame is known behind it: to the next stub only calls lead.
    a.test(x86::rsp, x86::rsp);
    a.jnz(common);
    a.align(asmjit::AlignMode::kCode, kStubSize);
  }
  a.bind(common);
  a.mov(x86::r10, asmjit::imm(reinterpret_cast<std::uint64_t>(this)));
  a.jmp(asmjit::imm(reinterpret_cast<std::uint64_t>(&nib_enter_missing)));
  void* const placed_at = place(memory_, code,
                                {.name = "nib stubs",
                                 .file = source_.absolute_path,
                                 .first_line = 0,
                                 .last_line = 0,
                                 .may_move = false,
                                 .inlined = {},
                                 .names = {}});
  if (placed_at == nullptr) {
    diagnostics.error({}, "no memory for code");
    return false;
  }
  stubs_ = static_cast<char*>(placed_at);
  unlink_all();
  return true;
}

void Executable::unlink_all() {
  for (std::uint32_t i = 0; i < table_.size(); ++i) lead_to(i, stubs_ + i * kStubSize);
}

// Down to three quarters, so that it is not done for each new function: first what was not called since the
// last time, then what was.
void Executable::make_room(const void* kept, const std::function<void(const Visit&)>& visit_stacks) {
  const std::lock_guard guard(mutex_);
  const std::size_t goal = code_limit_ / 4 * 3;
  has_grown_ = false;
  pin(kept, visit_stacks);
  std::erase_if(replaced_, [this](const Code& each) {
    return !each.is_pinned && memory_.release(each.entry) == asmjit::kErrorOk;
  });
  unlink_all();
  unload(false, goal);
  unload(true, goal);
  pack();
  for (auto& [unit, code] : units_) code.is_used = code.is_pinned;
}

void Executable::pin(const void* kept, const std::function<void(const Visit&)>& visit_stacks) {
  struct Range {
    std::uintptr_t start, end;
    Code* code;
  };
  std::vector<Range> ranges;
  const auto put = [&](Code& code) {
    const auto start = reinterpret_cast<std::uintptr_t>(code.entry);
    ranges.push_back({start, start + memory_.size_of(code.entry), &code});
    code.is_pinned = code.entry == kept;
  };
  for (auto& [unit, code] : units_) put(code);
  for (Code& each : replaced_) put(each);
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  if (ranges.empty()) return;
  const std::uintptr_t lowest = ranges.front().start, highest = ranges.back().end;
  visit_stacks([&](std::uintptr_t word) {
    if (word < lowest || word > highest) return;
    auto behind = std::upper_bound(ranges.begin(), ranges.end(), word,
                                   [](std::uintptr_t at, const Range& each) { return at < each.start; });
    if (behind != ranges.begin() && word <= (--behind)->end) behind->code->is_pinned = true;
  });
}

// Whose code came and went so often, that one is not cold: the limit is too small for what runs, which would
// do little else than compile.
void Executable::note_compiled(std::uint32_t function) {
  if (code_limit_ == 0 || ++times_compiled_[function] <= kMostTimes) return;
  code_limit_ = code_limit_ * 2;
  std::fill(times_compiled_.begin(), times_compiled_.end(), 0);
}

void Executable::unload(bool used_too, std::size_t goal) {
  auto each = units_.upper_bound(hand_);
  for (std::size_t left = units_.size(); left > 0 && memory_.used() > goal; --left) {
    if (each == units_.end()) each = units_.begin();
    hand_ = each->first;
    const bool stays = each->second.is_pinned || (each->second.is_used && !used_too);
    if (!stays) memory_.release(each->second.entry);
    each = stays ? std::next(each) : units_.erase(each);
  }
}

// In the order of their addresses, each into the lowest memory that has room for it.
void Executable::pack() {
  std::vector<Code*> moving;
  for (auto& [unit, code] : units_)
    if (!code.is_pinned) moving.push_back(&code);
  std::sort(moving.begin(), moving.end(), [](const Code* a, const Code* b) { return a->entry < b->entry; });
  for (Code* each : moving) memory_.move_down(&each->entry);
}

}  // namespace nib
