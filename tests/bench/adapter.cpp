// What the asmjit adapter adds to compiling and adding one function of about 45 instructions: without an
// agent, with one, and with one and a line for every third instruction. The agent's own work is left out
// (bench-announce).
#include <jitquill/asmjit.hpp>

#include "tests/bench/paired.hpp"

namespace x86 = asmjit::x86;

namespace {

constexpr int kFunctions = 1'000;  // a run
constexpr int kPairs = 61;

bool is_wanted = false;

int wants_code() {
  return is_wanted ? 1 : 0;
}
jitquill_status load(const jitquill_code*, std::uint64_t*) {
  return JITQUILL_OK;
}
jitquill_status unload(const void*) {
  return JITQUILL_OK;
}
std::size_t unwinding_size(const jitquill_code* code) {
  return code->frame_count != 0 ? 96 : 0;
}

}  // namespace

// As of an agent that knows no sites.
jitquill_functions made_table() {
  jitquill_functions table{};
  table.struct_size = offsetof(jitquill_functions, jitquill_code_moved);
  table.jitquill_wants_code = wants_code;
  table.jitquill_code_loaded = load;
  table.jitquill_code_unloaded = unload;
  table.jitquill_unwinding_size = unwinding_size;
  return table;
}

extern "C" {
extern const jitquill_functions jitquill_functions_v1;
const jitquill_functions jitquill_functions_v1 = made_table();
}

namespace {

// 12 values held at once, so that preserved registers are needed.
template <class Runtime>
void compile(Runtime& rt, bool lines) {
  asmjit::CodeHolder code;
  code.init(rt.environment());
  x86::Compiler cc(&code);
  if (lines) jitquill::add_line_pass(cc);
  asmjit::FuncNode* func = cc.addFunc(asmjit::FuncSignatureT<std::uint64_t, std::uint64_t>());
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  x86::Gp values[12];
  for (int i = 0; i < 12; ++i) {
    if (lines) cc.comment("@12");
    values[i] = cc.newUInt64();
    cc.lea(values[i], x86::ptr(argument, i));
  }
  for (const x86::Gp& value : values) {
    cc.add(argument, value);
    cc.xor_(argument, value);
  }
  cc.ret(argument);
  cc.endFunc();
  cc.finalize();
  void* function = nullptr;
  rt.add(&function, &code);
  rt.release(function);
}

}  // namespace

int main() {
  asmjit::JitRuntime theirs;
  jitquill::JitRuntime ours;
  const auto bare = [&] {
    for (int i = 0; i < kFunctions; ++i) compile(theirs, false);
  };
  const auto measure = [&](const char* what, bool wanted, bool lines, double target) {
    is_wanted = wanted;
    const auto ratio = jitquill::bench::paired(
        kPairs,
        [&] {
          for (int i = 0; i < kFunctions; ++i) compile(ours, lines);
        },
        bare);
    std::printf("adapter: %.2f us a function, %.2f us with asmjit alone\n", ratio.ours_s / kFunctions * 1e6,
                ratio.floor_s / kFunctions * 1e6);
    jitquill::bench::print(what, ratio, target);
  };
  measure("adapter: no agent / asmjit alone", false, false, 1.02);
  measure("adapter: announced / asmjit alone", true, false, 1.15);
  measure("adapter: announced with 12 lines / asmjit alone", true, true, 1.25);
  return 0;
}
