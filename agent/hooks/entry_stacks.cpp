// What the entry hooks of stack_hooks.S call: whether the function's stack is wanted, and where it begins.
//
// Where nothing of the function has run but the call of its hook, the stack is its caller's: callers are
// found whether or not its own code has unwinding tables. Behind a prologue it is the function's own.
//
// Context   [hook]
#include "agent/hooks/mirror.hpp"
#include "agent/hooks/stack_copy.hpp"
#include "agent/hooks/x86_64/stack_numbers.h"
#include "agent/lanes/wanted_stacks.hpp"

namespace jitquill {
namespace {

using lanes::RecordKind;

// As stack_hooks.S pushes them, from the last on.
struct SavedAtEntry {
  std::uint64_t bx, bp, r12, r13, r14, r15, r10, r11, dx, cx, ax;
  std::uint64_t site;  // the hook returns there; the stack is above
};

std::uint64_t above(const SavedAtEntry& saved) noexcept {
  return reinterpret_cast<std::uint64_t>(&saved + 1);
}

void put(RecordKind kind, std::uint64_t value, const SavedAtEntry& saved, std::uint64_t pc,
         std::uint64_t sp) noexcept {
  put_call_stack(kind, value, {pc, sp, saved.bx, saved.bp, saved.r12, saved.r13, saved.r14, saved.r15});
}

void put_of_caller(RecordKind kind, std::uint64_t value, const SavedAtEntry& saved,
                   std::uint64_t slot) noexcept {
  const std::uint64_t found = *reinterpret_cast<const std::uint64_t*>(slot);
  put(kind, value, saved, mirror::return_address(found, slot), slot + 8);
}

// gcc's static chain may lie in between (jitquill_native_fentry).
std::uint64_t slot_at_fentry(const SavedAtEntry& saved) noexcept {
  const std::uint64_t slot = above(saved);
  const bool may_be_chain = *reinterpret_cast<const std::uint64_t*>(slot) == saved.r10;
  return may_be_chain && jitquill_fentry_keeps_chain(saved.site) != 0 ? slot + 8 : slot;
}

}  // namespace
}  // namespace jitquill

using namespace jitquill;

extern "C" [[gnu::visibility("hidden")]] std::uint32_t jitquill_stack_at_entry(const SavedAtEntry* saved,
                                                                               std::uint64_t where,
                                                                               std::uint64_t value) noexcept {
  switch (where) {
    case JITQUILL_STACK_AT_SITE:
      put_of_caller(RecordKind::kEnter, value, *saved, above(*saved));
      break;
    case JITQUILL_STACK_AT_FENTRY:
      if (lanes::is_stack_wanted(saved->site))
        put_of_caller(RecordKind::kEnterAddress, saved->site, *saved, slot_at_fentry(*saved));
      break;
    case JITQUILL_STACK_AT_MCOUNT:
      if (lanes::is_stack_wanted(saved->site))
        put(RecordKind::kEnterAddress, saved->site, *saved, saved->site, above(*saved));
      break;
    case JITQUILL_STACK_AT_CYG:
      if (lanes::is_stack_wanted(value))
        put(RecordKind::kEnterWithin, value, *saved, saved->site, above(*saved));
      break;
    default:
      break;
  }
  return 0;
}
