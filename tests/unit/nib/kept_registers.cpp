#include "tests/unit/nib/kept_registers.hpp"

namespace nib::test {

void (*nib_called)() = nullptr;
int nib_lost_registers = 0;

asm(R"(
  .pushsection .text
  .globl nib_call_and_compare
  .type nib_call_and_compare, @function
nib_call_and_compare:
  .cfi_startproc
  .irp register, rbx, rbp, r12, r13, r14, r15
  push %\register
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset \register, 0
  .endr
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  .irp register, rbx, rbp, r12, r13, r14, r15
  movabs $0x5eed5eed5eed5eed, %\register
  .endr
  call *nib_called(%rip)
  xor %ecx, %ecx
  movabs $0x5eed5eed5eed5eed, %rdx
  .irp register, r15, r14, r13, r12, rbp, rbx
  add %ecx, %ecx
  xor %eax, %eax
  cmp %rdx, %\register
  setne %al
  or %eax, %ecx
  .endr
  mov %ecx, nib_lost_registers(%rip)
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  .irp register, r15, r14, r13, r12, rbp, rbx
  pop %\register
  .cfi_adjust_cfa_offset -8
  .endr
  ret
  .cfi_endproc
  .size nib_call_and_compare, .-nib_call_and_compare
  .popsection
)");

}  // namespace nib::test
