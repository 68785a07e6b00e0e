/* The hooks of the agent that tests are: they count. r10 and r11 are overwritten, as by the real ones. */
        .macro HOOK name, index
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        incq    captured_site_calls + 8 * \index(%rip)
        mov     $-1, %r10
        mov     $-1, %r11
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        HOOK captured_site_enter, 0
        HOOK captured_site_leave, 1
        HOOK captured_site_tail, 2

        .bss
        .globl  captured_site_calls
        .p2align 3
captured_site_calls:
        .zero   24
        .section .note.GNU-stack, "", @progbits
