/* Native functions as compilers make them with -pg, -mfentry, -minstrument-return=call; what they do is nothing. */
#include "agent/hooks/x86_64/mirror_numbers.h"

        .macro NATIVE name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        .endm
        .macro END name
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        NATIVE  with_fentry
        call    jitquill_native_fentry
        END     with_fentry

        NATIVE  with_return
        call    jitquill_native_fentry
        call    jitquill_native_return
        END     with_return

        NATIVE  with_mcount
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rbx
        sub     $24, %rsp
        call    jitquill_native_mcount
        add     $24, %rsp
        pop     %rbx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        END     with_mcount

/* gcc's, where it realigns the stack by another register: above the frame pointer lies a copy. */
        NATIVE  with_copied_return
        lea     8(%rsp), %r10
        and     $-32, %rsp
        push    -8(%r10)
        push    %rbp
        mov     %rsp, %rbp
        push    %r10
        call    jitquill_native_mcount
        pop     %r10
        pop     %rbp
        lea     -8(%r10), %rsp
        END     with_copied_return

/* gcc's, of a nested function. */
        NATIVE  with_chain
        push    %r10
        .cfi_adjust_cfa_offset 8
        call    jitquill_native_fentry
        pop     %r10
        .cfi_adjust_cfa_offset -8
        END     with_chain

/* uint64_t chain_kept(void): 1 if what is in r10 when a nested function is called is there in it. */
        .globl  chain_kept
        .type   chain_kept, @function
chain_kept:
        .cfi_startproc
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        movabs  $0x1234567890, %r10
        call    1f
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 8
1:      push    %r10
        call    jitquill_native_fentry
        pop     %r10
        movabs  $0x1234567890, %rdx
        xor     %eax, %eax
        cmp     %rdx, %r10
        sete    %al
        ret
        .cfi_endproc
        .size   chain_kept, . - chain_kept

/* f jumps to g. */
        NATIVE  with_tail_call
        call    jitquill_native_fentry
        jmp     with_fentry
        END     with_tail_call

/* As their namesakes, while stacks are wanted. */
        NATIVE  with_fentry_stack
        call    jitquill_native_fentry_stack
        END     with_fentry_stack

        NATIVE  with_mcount_stack
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rbx
        sub     $24, %rsp
        call    jitquill_native_mcount_stack
        add     $24, %rsp
        pop     %rbx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        END     with_mcount_stack

        NATIVE  with_chain_stack
        push    %r10
        .cfi_adjust_cfa_offset 8
        call    jitquill_native_fentry_stack
        pop     %r10
        .cfi_adjust_cfa_offset -8
        END     with_chain_stack

        NATIVE  with_cyg_stack
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        lea     with_cyg_stack(%rip), %rdi
        mov     8(%rsp), %rsi
        call    jitquill_native_cyg_enter_stack
        lea     with_cyg_stack(%rip), %rdi
        mov     8(%rsp), %rsi
        call    jitquill_native_cyg_exit
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        END     with_cyg_stack

        NATIVE  with_nothing
        call    jitquill_native_nothing
        END     with_nothing

/* As a call that finds the agent asleep, with nobody to wake it. */
        NATIVE  with_wake
        call    jitquill_native_wake + JITQUILL_WAKE_ENTRY_SIZE
        END     with_wake

/* const void* taken_return(const void** slot): what is in its slot while it runs, and where that is. */
        NATIVE  taken_return
        call    jitquill_native_fentry
        mov     %rsp, (%rdi)
        mov     (%rsp), %rax
        END     taken_return

/* Taken, and then the mirror word (with_broken_word), its copy (with_broken_copy) or both are written over while they run;
 * with_foreign_word: both with an address of code that is another frame's. */
        .macro BREAK distance
        movabs  $-\distance, %r11
        movq    $0x1234, (%rsp, %r11)
        .endm
        NATIVE  with_broken_word
        call    jitquill_native_fentry
        BREAK   JITQUILL_MIRROR_DISTANCE
        END     with_broken_word

        NATIVE  with_broken_copy
        call    jitquill_native_fentry
        BREAK   JITQUILL_MIRROR_COPY_DISTANCE
        END     with_broken_copy

        NATIVE  with_broken_words
        call    jitquill_native_fentry
        BREAK   JITQUILL_MIRROR_DISTANCE
        BREAK   JITQUILL_MIRROR_COPY_DISTANCE
        END     with_broken_words

        NATIVE  with_foreign_word
        call    jitquill_native_fentry
        movabs  $-JITQUILL_MIRROR_DISTANCE, %r11
        incq    (%rsp, %r11)
        movabs  $-JITQUILL_MIRROR_COPY_DISTANCE, %r11
        incq    (%rsp, %r11)
        END     with_foreign_word

/* void calls_back(void (*function)()) */
        NATIVE  calls_back
        call    jitquill_native_fentry
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    *%rdi
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        END     calls_back

/* The same, of a function that tells of its end. */
        NATIVE  with_broken_word_and_return
        call    jitquill_native_fentry
        BREAK   JITQUILL_MIRROR_DISTANCE
        call    jitquill_native_return
        END     with_broken_word_and_return

        NATIVE  with_broken_copy_and_return
        call    jitquill_native_fentry
        BREAK   JITQUILL_MIRROR_COPY_DISTANCE
        call    jitquill_native_return
        END     with_broken_copy_and_return

        .section .note.GNU-stack, "", @progbits
