// What the tiers of a function have to do with each other (tier.hpp): the first one counts, both are left for
// the other one.
#include <jitquill/asmjit/tail_pass.hpp>

#include <cstddef>

#include "nib/lowering.hpp"

namespace nib {

using asmjit::imm;
namespace x86 = asmjit::x86;

bool FunctionLowering::counts_heat() const noexcept {
  return context_.counts_heat && form_.tier == Tier::kFirst && form_.entry != Form::Entry::kSpawn;
}

const CodePoint& FunctionLowering::point(std::uint32_t function, Form form) {
  return point_in(context_.data, context_.executable, context_.program, function, form);
}

const CodePoint& point_in(CodeData& data, Executable* executable, const Program& program,
                          std::uint32_t function, Form form) {
  const Function& of = program.functions[function];
  const FaultSite no_code{.fault = Fault::kNoCode, .at = of.at, .function = of.name, .text = {}};
  const FaultSite& site = data.faults.try_emplace({of.at, Fault::kNoCode, of.name}, no_code).first->second;
  return data.points.try_emplace({function, form}, CodePoint{executable, function, form, &site})
      .first->second;
}

// Where a block begins that is often run, or the function (0).
void FunctionLowering::count(std::uint32_t block) {
  if (!counts_heat() || !can_transfer()) return;
  Profile& profile = context_.profiles[index_of(root_)];
  const Gp heat = cc_.newUIntPtr();
  const Label hot = cc_.newLabel();
  const Label done = cc_.newLabel();
  cc_.mov(heat, imm(reinterpret_cast<std::uint64_t>(&profile.heat)));
  cc_.sub(x86::dword_ptr(heat), 1);
  cc_.js(hot);
  cc_.bind(done);
  later([this, block, hot, done, line = line_, scope = scope_] {
    cc_.bind(hot);
    mark(line);
    scope_ = scope;
    transfer(block, Tier::kSecond, done);
  });
}

// Leaves this code for that of another tier, if there is some; else goes on at `back`.
void FunctionLowering::transfer(std::uint32_t block, Tier tier, const Label& back) {
  const auto entry = block == 0 ? Form::Entry::kWhole : Form::Entry::kBlock;
  const CodePoint& to = point(index_of(root_), {.entry = entry, .tier = tier, .block = block});
  asmjit::InvokeNode* const asked =
      call_runtime(&nib_transfer_keeping_registers, {constant(reinterpret_cast<std::int64_t>(&to))});
  keep_registers(asked);
  if (block == 0) {
    cc_.jmp(back);
    return;
  }
  const Gp target = cc_.newUIntPtr();
  cc_.mov(target, thread_word_by_register(offsetof(ThreadWords, target)));
  cc_.test(target, target);
  cc_.jz(back);
  for (std::size_t i = 0; i < scope_.size(); ++i) {
    const Reg& reg = inlining_.variables[scope_[i]];
    store(passed(i), {.kind = Value::Kind::kVariable, .reg = reg, .is_float = reg.isXmm()});
  }
  leave_frame();
  asmjit::InvokeNode* call = nullptr;
  cc_.invoke(&call, target, signature_of(root_, false));
  jitquill::mark_transfer(call);
  if (root_.result == Type::kNone) {
    cc_.ret();
  } else {
    cc_.ret(result_of(call, root_.result, Reg()).reg);
  }
}

x86::Mem FunctionLowering::passed(std::size_t index) {
  return thread_word_by_register(offsetof(ThreadWords, passed) + index * sizeof(std::int64_t));
}

void FunctionLowering::take_passed() {
  for (std::size_t i = 0; i < entry_scope_.size(); ++i) {
    const Variable& variable = root_.variables[entry_scope_[i]];
    const Reg& reg = inlining_.variables[entry_scope_[i]];
    load(passed(i), variable.type, reg);
  }
  for (const std::uint32_t each : entry_scope_) know_length(inlining_.variables[each], root_.variables[each]);
}

// ---- Blocks that never ran ----

bool FunctionLowering::is_left_out(const Block& block) const noexcept {
  return context_.leaves_out && form_.tier == Tier::kSecond && is_hot_ && inlining_.outer == nullptr &&
         can_transfer() && !block.statements.empty() &&
         context_.profiles[index_of(root_)].has_run[block.number] == 0;
}

// Where to jump instead.
FunctionLowering::Label FunctionLowering::left_out(const Block& block) {
  const Label label = cc_.newLabel();
  later([this, &block, label, line = line_, scope = scope_] {
    cc_.bind(label);
    mark(line);
    scope_ = scope;
    transfer(block.number, Tier::kFirst, label);
  });
  return label;
}

void FunctionLowering::run_block_of_if(const Block& node) {
  if (counts_heat() && !node.statements.empty()) {
    std::uint8_t& has_run = context_.profiles[index_of(root_)].has_run[node.number];
    const Gp at = cc_.newUIntPtr();
    cc_.mov(at, imm(reinterpret_cast<std::uint64_t>(&has_run)));
    cc_.mov(x86::byte_ptr(at), 1);
  }
  block(node);
}

}  // namespace nib
