/* The names that compilers have native functions call, each a jump to where the agent says, or to who has the name next.
 * Nobody: a return.
 *
 * Every register is kept, and the stack is as at the call: what they lead to (agent/hooks/x86_64/native.S) stands in our
 * place. The flags are dead at each such call. A target that is there never becomes 0 again. */
        .macro SHOW name, number
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        cmpq    $0, jitquill_hook_targets + 8 * \number(%rip)
        je      1f
        notrack jmp *jitquill_hook_targets + 8 * \number(%rip)
1:      ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
#define NATIVE_HOOK(name, number, hook) SHOW name, number
#include "agent/native_hooks.def"
#undef NATIVE_HOOK

        .section .note.GNU-stack, "", @progbits
