/* The entry hooks while stacks are wanted (stack=): each takes the stack if it is, and goes on as the hook that it stands
 * for, in front of whose record the stack's stands. While none are wanted, names and thunks lead to that one itself.
 *
 * Registers are kept as by the hooks themselves; nothing is assumed of the stack's alignment. entry_stacks.cpp knows the
 * order of what is pushed here. */
#include "agent/hooks/x86_64/native.inc"
#include "agent/hooks/x86_64/stack_numbers.h"

        /* jitquill_stack_at_entry(what was pushed, \where, \value), then \hook, as if it had been called. */
        .macro TAKE_STACK where, value, hook
        KEEP    %rax
        KEEP    %rcx
        KEEP    %rdx
        KEEP    %r11
        KEEP    %r10
        KEEP    %r15
        KEEP    %r14
        KEEP    %r13
        KEEP    %r12
        KEEP    %rbp
        KEEP    %rbx
        mov     %rsp, %r11
        mov     $\where, %edx
        mov     \value, %rcx
        lea     jitquill_stack_at_entry(%rip), %rax
        call    jitquill_native_call_c
        TAKE    %rbx
        TAKE    %rbp
        TAKE    %r12
        TAKE    %r13
        TAKE    %r14
        TAKE    %r15
        TAKE    %r10
        TAKE    %r11
        TAKE    %rdx
        TAKE    %rcx
        TAKE    %rax
        jmp     \hook
        .endm

        .text

/* void jitquill_site_enter_stack(r10d = code id, and whether the stack is wanted) */
        FUNCTION jitquill_site_enter_stack
        endbr64
        btr     $JITQUILL_STACK_WANTED_BIT, %r10d
        jnc     jitquill_site_enter
        TAKE_STACK JITQUILL_STACK_AT_SITE, %r10, jitquill_site_enter
        END     jitquill_site_enter_stack

        FUNCTION jitquill_native_fentry_stack
        endbr64
        TAKE_STACK JITQUILL_STACK_AT_FENTRY, %rcx, jitquill_native_fentry
        END     jitquill_native_fentry_stack

        FUNCTION jitquill_native_mcount_stack
        endbr64
        TAKE_STACK JITQUILL_STACK_AT_MCOUNT, %rcx, jitquill_native_mcount
        END     jitquill_native_mcount_stack

        FUNCTION jitquill_native_cyg_enter_stack
        endbr64
        TAKE_STACK JITQUILL_STACK_AT_CYG, %rdi, jitquill_native_cyg_enter
        END     jitquill_native_cyg_enter_stack

        .section .note.GNU-stack, "", @progbits
