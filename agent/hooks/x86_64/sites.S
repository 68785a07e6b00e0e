/* The hooks of jitted sites: one record of 16 bytes in the thread's lane, agent/lanes/record.hpp.
 *
 * A site is a sled of 11 bytes, `41 BA id32` (mov r10d, id) and `E8 rel32` (call), whose call reaches these through a
 * thunk that jumps. So on arrival the slot, the stack word with the return address of the traced function, is rsp + 8.
 *
 * Nothing is assumed of the stack's alignment, nothing lives below rsp at a site, and no vector instruction is executed,
 * here or in what the slow path calls. Flags are not kept. */
#include "agent/hooks/x86_64/put_record.inc"

        .text

/* void jitquill_site_enter(r10d = code id)
 *
 * Keeps every register but r11 and flags. (r10 comes back changed: it carries the id, so nobody has anything in it.)
 * The clock is read as late as possible, so that this hook's time is not the function's. */
        .globl  jitquill_site_enter
        .hidden jitquill_site_enter
        .type   jitquill_site_enter, @function
        .p2align 6
jitquill_site_enter:
        .cfi_startproc
        endbr64
        LOAD_CURSOR %r11
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        RESERVE %r11, .Lenter_slowly
        lea     24(%rsp), %rdx
        mov     %rax, %r11
        MAKE_WHAT %rdx, kEnter
        or      %r10, %rdx
        mov     %rdx, JITQUILL_SITE_WHAT_AT(%r11)
        lea     24(%rsp), %r10
        rdtsc
        MAKE_WHEN %r10d
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%r11)
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 16
.Lenter_slowly:
        lea     24(%rsp), %r11
        MAKE_WHAT %r11, kEnter
        or      %r10, %r11
        xor     %edx, %edx      /* the slow path reads the clock, as late as it can */
        jmp     .Lput_slowly
        .cfi_endproc
        .size   jitquill_site_enter, . - jitquill_site_enter

/* Where a function ends: rax and rdx may hold its result. Keeps every register but r10, r11 and flags. The clock is read
 * first, so that this hook's time is not the function's. */
        .macro EXIT_SITE name, kind
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        endbr64
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        rdtsc
        LOAD_CURSOR %r11
        lea     24(%rsp), %r10
        MAKE_WHEN %r10d
        RESERVE %r11, .L\name\()_slowly
        lea     24(%rsp), %r11
        MAKE_WHAT %r11, \kind
        mov     %r11, JITQUILL_SITE_WHAT_AT(%rax)
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%rax)
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 16
.L\name\()_slowly:
        lea     24(%rsp), %r11
        MAKE_WHAT %r11, \kind
        jmp     .Lput_slowly
        .cfi_endproc
        .size   \name, . - \name
        .endm

/* void jitquill_site_leave(r10d = code id, unused) */
        EXIT_SITE jitquill_site_leave, kLeave
/* void jitquill_site_tail(r10d = code id, unused): rax may be the number of vector arguments, and all of the callee's
 * arguments are in their registers. */
        EXIT_SITE jitquill_site_tail, kTail

/* The end of all three, without room for a record. On the stack: rdx, rax, the return address into the sled. r11 = `what`,
 * rdx = `when`, or 0. Calls jitquill_lane_put_slowly(what, when, slot), which keeps what System V calls callee-saved, and
 * vector and x87 registers. */
        .type   jitquill_site_put_slowly, @function
        .p2align 4
jitquill_site_put_slowly:
        .cfi_startproc
        .cfi_def_cfa_offset 24
.Lput_slowly:
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rcx
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        and     $-16, %rsp
        mov     %r11, %rdi
        mov     %rdx, %rsi
        lea     32(%rbp), %rdx  /* above rbp, rdx, rax, the return address into the sled */
        cld
        call    jitquill_lane_put_slowly
        lea     -40(%rbp), %rsp
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rcx
        pop     %rbp
        .cfi_def_cfa %rsp, 24
        .cfi_restore %rbp
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   jitquill_site_put_slowly, . - jitquill_site_put_slowly

        .section .note.GNU-stack, "", @progbits
