#include "agent/drain/call_stacks.hpp"

#include "agent/lanes/call_stack.hpp"
#include "agent/stacks/open_plugin.hpp"
#include "writer/bytes/byte_source.hpp"

namespace jitquill::drain {
namespace {

using lanes::RecordKind;
using stacks::Registers;

Registers registers_from(ByteSource& payload) noexcept {
  constexpr std::size_t kInOrder[] = {Registers::kPc,  Registers::kSp,  Registers::kBx,  Registers::kBp,
                                      Registers::kR12, Registers::kR13, Registers::kR14, Registers::kR15};
  Registers registers{};
  for (const std::size_t number : kInOrder) registers.value[number] = payload.u64();
  return registers;
}

// Behind a prologue the function's own frame is the innermost.
bool begins_with_own_frame(std::uint64_t what, const Registers& registers) noexcept {
  const RecordKind kind = lanes::kind_of(what);
  return kind == RecordKind::kEnterWithin ||
         (kind == RecordKind::kEnterAddress && registers.pc() == (what & lanes::kLow48));
}

}  // namespace

void CallStacks::begin() noexcept {
  walker_.use(plugin_ != nullptr ? plugin_ : stacks::stacks_plugin());
  walker_.forget_memory();
  functions_.begin_look();
}

bool CallStacks::find_tables(std::uint64_t address, stacks::CodeTables& tables) noexcept {
  return functions_.find_tables(address, when_ns_, tables);
}

FunctionNumber CallStacks::entered(std::uint64_t what, std::uint64_t when_ns) noexcept {
  const std::uint64_t value = what & lanes::kLow48;
  return lanes::kind_of(what) == RecordKind::kEnter ? functions_.by_id(value)
                                                    : functions_.by_stack_entry(value, when_ns);
}

TakenStack CallStacks::take(std::span<const std::uint8_t> payload, std::uint64_t when_ns) noexcept {
  ByteSource source(payload);
  const std::uint64_t what = source.u64();
  const Registers registers = registers_from(source);
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  const std::uint64_t frame_pointer = registers.value[Registers::kBp];
  TakenStack taken{Functions::kNone,
                   {{}, true},
                   what,
                   {lanes::slot_of(registers.sp() - kWord), lanes::slot_of(frame_pointer + kWord)}};
  if (source.failed()) return taken;
  taken.function = entered(what, when_ns);
  if (taken.function == Functions::kNone || taken.function == Functions::kHidden) return taken;
  when_ns_ = when_ns;
  const stacks::Slice slice{registers.sp(), payload.subspan(sizeof(lanes::StackHead))};
  const auto walked = walker_.walk(registers, false, slice, *this, addresses_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < walked.count; ++i) {
    const FunctionNumber caller = functions_.by_return(addresses_[i], when_ns);
    const bool is_own = i == 0 && caller == taken.function && begins_with_own_frame(what, registers);
    if (!is_own && caller != Functions::kNone) callers_[count++] = caller;
  }
  taken.stack = {{callers_, count}, walked.is_partial};
  return taken;
}

}  // namespace jitquill::drain
