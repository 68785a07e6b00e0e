// Whether a function keeps the registers that a callee has to (System V ABI for x86-64): asmjit's allocator
// may move a value into one that the prologue then does not save.
//
// Context   tests; one function at a time.
#pragma once

namespace nib::test {

// What call_and_compare() calls, and what it found: 0, or a bit for each of rbx, rbp, r12, r13, r14, r15.
extern "C" void (*nib_called)();
extern "C" int nib_lost_registers;
extern "C" void nib_call_and_compare();

}  // namespace nib::test
