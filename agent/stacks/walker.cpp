#include "agent/stacks/walker.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "agent/base/safe_copy.hpp"
#include "agent/stacks/step_lock.hpp"

namespace jitquill::stacks {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kPageSize = 4096;

// Of 8 bytes in `bytes`, which seem to lie at `at`.
bool read_from(std::span<const std::uint8_t> bytes, std::uint64_t at, std::uint64_t address,
               std::uint64_t& word) noexcept {
  const std::uint64_t offset = address - at;
  if (bytes.size() < kWord || offset > bytes.size() - kWord) return false;
  std::memcpy(&word, bytes.data() + offset, kWord);
  return true;
}

}  // namespace

struct StackWalker::Page {
  std::uint64_t number;  // address / kPageSize; 0 = nothing was read
  bool is_there;
  std::uint8_t bytes[kPageSize];
};

StackWalker::~StackWalker() {
  ::operator delete(pages_);
}

void StackWalker::forget_memory() noexcept {
  for (std::size_t i = 0; pages_ != nullptr && i < kPages; ++i) pages_[i].number = 0;
}

const StackWalker::Page* StackWalker::page_of(std::uint64_t address) noexcept {
  if (pages_ == nullptr) {
    pages_ = static_cast<Page*>(::operator new(kPages * sizeof(Page), std::nothrow));
    if (pages_ == nullptr) return nullptr;
    forget_memory();
  }
  const std::uint64_t number = address / kPageSize;
  Page& page = pages_[number % kPages];
  if (page.number != number) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(number * kPageSize);
    page.is_there = safe_copy({from, kPageSize}, page.bytes, 0);
    page.number = number;
  }
  return page.is_there ? &page : nullptr;
}

bool StackWalker::read_memory(std::uint64_t address, std::uint64_t& word) noexcept {
  std::uint8_t bytes[kWord];
  for (std::size_t done = 0; done < kWord;) {
    const Page* const page = page_of(address + done);
    if (page == nullptr) return false;
    const std::size_t in_page = (address + done) % kPageSize;
    const std::size_t size = std::min(kWord - done, kPageSize - in_page);
    std::memcpy(bytes + done, page->bytes + in_page, size);
    done += size;
  }
  std::memcpy(&word, bytes, kWord);
  return true;
}

// The last bytes of tables have no eight behind them: what is beyond a copy reads as zero.
bool StackWalker::read(std::uint64_t address, std::uint64_t& word) noexcept {
  if (read_from(slice_.bytes, slice_.at, address, word)) return true;
  const std::uint64_t in_copy = address - tables_.copy_at;
  if (in_copy < tables_.copy.size()) {
    const auto rest = tables_.copy.subspan(static_cast<std::size_t>(in_copy));
    word = 0;
    std::memcpy(&word, rest.data(), std::min(rest.size(), kWord));
    return true;
  }
  return address - tables_.low < tables_.high - tables_.low && read_memory(address, word);
}

int StackWalker::read_for_plugin(void* to, std::uint64_t address, std::uint64_t* word) noexcept {
  return static_cast<StackWalker*>(to)->read(address, *word) ? 1 : 0;
}

bool StackWalker::step_by_frame_pointer(Registers& registers) noexcept {
  const std::uint64_t frame = registers.value[Registers::kBp];
  std::uint64_t outer = 0, pc = 0;
  const bool is_frame = frame >= registers.sp() && frame % kWord == 0 &&
                        read_from(slice_.bytes, slice_.at, frame, outer) &&
                        read_from(slice_.bytes, slice_.at, frame + kWord, pc);
  if (!is_frame) return false;
  registers.value[Registers::kBp] = outer;
  registers.value[Registers::kSp] = frame + 2 * kWord;
  registers.value[Registers::kPc] = pc;
  return true;
}

Step StackWalker::step(std::uint64_t at, Registers& registers) noexcept {
  if (plugin_ != nullptr && tables_.header != 0 && StepLock::lock()) {
    const Memory memory{this, &read_for_plugin};
    const int stepped = plugin_->step(&memory, at, tables_.header, &registers);
    StepLock::unlock();
    if (stepped == kOutermost || stepped == kCaller) return static_cast<Step>(stepped);
  }
  if (!step_by_frame_pointer(registers)) return kUnknown;
  has_guessed_ |= !tables_.keeps_frame_pointer;
  return kCaller;
}

// What the kernel has a handler return to: mov rax, 15 (rt_sigreturn); syscall.
bool StackWalker::is_signal_return(std::uint64_t pc) noexcept {
  constexpr std::uint8_t kCode[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F};
  std::uint64_t word = 0;
  return read(pc, word) && std::memcmp(&word, kCode, sizeof word) == 0;
}

namespace {

// Appends what the walk before found from there on; false: it is not known.
bool take_rest(WalkMemo& memo, const Registers& registers, std::uint64_t at, const Slice& slice,
               std::span<std::uint64_t> addresses, std::size_t& count) noexcept {
  const auto rest = memo.find(registers, at, slice);
  if (rest.empty() || rest.size() > addresses.size() - count) return false;
  for (const WalkMemo::Frame& frame : rest) addresses[count++] = frame.address;
  memo.keep(slice, rest);
  return true;
}

}  // namespace

// The stack pointer ascends, but from a handler's stack to the one that it interrupted. Where hooks took a
// return address, equal stacks may have had other callers.
Walked StackWalker::walk(const Registers& innermost, bool is_exact, const Slice& slice, CodeSource& code,
                         std::span<std::uint64_t> addresses, WalkMemo* memo) noexcept {
  slice_ = slice;
  has_guessed_ = false;
  Registers registers = innermost;
  Walked walked;
  if (memo != nullptr) memo->begin();
  for (;;) {
    const std::uint64_t pc = registers.pc();
    const std::uint64_t at = is_exact ? pc : pc - 1;
    if (pc == 0 && walked.count != 0) return {walked.count, has_guessed_, true};  // how fibers begin
    const bool may_know = memo != nullptr && !has_guessed_;
    if (may_know && take_rest(*memo, registers, at, slice, addresses, walked.count))
      return {walked.count, false, true};
    if (!code.find_tables(at, tables_)) return {walked.count, true, false};
    if (walked.count == addresses.size()) return {walked.count, true, false};
    addresses[walked.count++] = at;
    if (memo != nullptr) memo->note(registers, at);
    const std::uint64_t sp = registers.sp();
    const bool is_signal = is_signal_return(pc);
    const Step stepped = step(at, registers);
    if (stepped == kOutermost && may_know && !has_guessed_) memo->keep(slice);
    if (stepped == kOutermost) return {walked.count, has_guessed_, true};
    if (stepped == kUnknown || (!is_signal && registers.sp() <= sp)) return {walked.count, true, false};
    const std::uint64_t found = registers.pc();
    registers.value[Registers::kPc] = code.return_address(found, registers.sp() - kWord);
    if (found != registers.pc()) memo = nullptr;
    if (found != 0 && registers.pc() == 0) return {walked.count, true, false};
    is_exact = is_signal;
  }
}

}  // namespace jitquill::stacks
