/* Where functions return to whose return address was taken (native.S). */
#include "agent/hooks/x86_64/native.inc"

        .text

/* What a taken return address leads to: rsp = slot + 8, rax, rdx, xmm0, xmm1, st0 and st1 may hold the result. Keeps every
 * register but r10, r11 and flags. The function's way back is a jump: a `ret` would be predicted to go elsewhere.
 *
 * There are as many places to come in as the low bits of an address can be, and the slot holds the one of what was taken
 * out of it. So the frame itself says which address is its own: mirror words that are another frame's, or were written over, are
 * seen. jitquill_mirror_mend() has what is done then.
 *
 * An unwinder that comes to such a return address finds a frame without a function of its own (it looks at the address
 * before, hence the nop), whose return address is the mirror word. Unwinders name a frame by its CFA, so this one needs a CFA that no
 * other has: form A says slot + 16, and that the caller's stack pointer is 8 below. nongnu libunwind ignores what is said of
 * the stack pointer: form B is for processes in which it handles exceptions, and libgcc aborts of it. */
/* The distance is too far for .cfi_offset, of which clang's assembler takes 32 bits: DW_CFA_offset_extended_sf, %rip, and 43
 * bits of words as SLEB128. */
#define MIRROR_WORDS(forms_cfa) ((JITQUILL_MIRROR_DISTANCE + 8 + forms_cfa) / 8)
#define SEVEN_BITS(forms_cfa, from) (0x80 | ((MIRROR_WORDS(forms_cfa) >> from) & 0x7f))
        .macro RETURN_HOOK name, forms_cfa
        .globl  \name
        .hidden \name
        .p2align 6
        .skip   JITQUILL_RETURN_ENTRY_SIZE - 1, 0x90
        .type   \name\()_from, @function
\name\()_from:
        .cfi_startproc
        .cfi_def_cfa %rsp, \forms_cfa
        .cfi_escape 0x11, 0x10, SEVEN_BITS(\forms_cfa, 0), SEVEN_BITS(\forms_cfa, 7), SEVEN_BITS(\forms_cfa, 14), \
                    SEVEN_BITS(\forms_cfa, 21), SEVEN_BITS(\forms_cfa, 28), SEVEN_BITS(\forms_cfa, 35), 0x01
        .if \forms_cfa
        .cfi_escape 0x16, 0x07, 0x02, 0x38, 0x1c        /* rsp: DW_OP_lit8, DW_OP_minus of the CFA */
        .endif
        nop
\name:
        .rept   JITQUILL_RETURN_ENTRY_MASK + 1
        .byte   0x41, 0xb2                              /* mov $number, %r10b */
        .byte   (. - 2 - \name) / JITQUILL_RETURN_ENTRY_SIZE
        .byte   0xe9                                    /* jmp */
        .long   .L\name\()_entered - . - 4
        .endr
.L\name\()_entered:
        KEEP    %rax
        KEEP    %rdx
        rdtsc
        lea     8(%rsp), %r11
        MAKE_WHEN %r11d
        LOAD_CURSOR %r11
        RESERVE %r11, 2f
        lea     8(%rsp), %r11
        MAKE_WHAT %r11, kLeave
        mov     %r11, JITQUILL_SITE_WHAT_AT(%rax)
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%rax)
1:      .cfi_remember_state
        TAKE    %rdx
        TAKE    %rax
        movabs  $-JITQUILL_MIRROR_DISTANCE, %r11
        mov     -8(%rsp, %r11), %r11    /* not r10: see jitquill_native_fentry */
        xor     %r11d, %r10d
        test    $JITQUILL_RETURN_ENTRY_MASK, %r10b
        jne     3f
        movabs  $-JITQUILL_MIRROR_COPY_DISTANCE, %r10
        cmp     %r11, -8(%rsp, %r10)
        jne     4f
        notrack jmp *%r11
        .cfi_restore_state
        .cfi_def_cfa_offset \forms_cfa + 16    /* clang counts on from before .cfi_restore_state */
2:      KEEP    %rcx
        lea     16(%rsp), %rcx
        mov     %rcx, %r11
        PUT_SLOWLY kLeave
        TAKE    %rcx
        jmp     1b
        .cfi_def_cfa_offset \forms_cfa
3:      xor     %r11d, %r10d
        jmp     5f
4:      mov     %r11d, %r10d
5:      KEEP    %rax
        KEEP    %rdx
        KEEP    %rcx
        lea     16(%rsp), %r11
        mov     %r10d, %edx
        lea     jitquill_mirror_mend(%rip), %rax
        call    jitquill_native_call_c
        mov     %rax, %r11
        TAKE    %rcx
        TAKE    %rdx
        TAKE    %rax
        test    %r11, %r11
        jz      jitquill_return_address_is_lost
        notrack jmp *%r11
        .cfi_endproc
        .size   \name\()_from, . - \name\()_from
        .endm

        RETURN_HOOK jitquill_return_hook_a, 8
        RETURN_HOOK jitquill_return_hook_b, 0

/* A thread's way back is gone: the host's own fault, where debuggers and core files say so by name. */
        FUNCTION jitquill_return_address_is_lost
        .cfi_undefined %rip
        hlt
        END     jitquill_return_address_is_lost

        .section .note.GNU-stack, "", @progbits
