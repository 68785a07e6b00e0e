/* The function that debuggers put a breakpoint on, in the shapes that compilers give it. Its descriptor, too. */
    .section .data.descriptor, "aw"
    .globl __jit_debug_descriptor
    .type __jit_debug_descriptor, @object
    .size __jit_debug_descriptor, 24
    .p2align 4
__jit_debug_descriptor:
    .long 1, 0
    .quad 0, 0

    .text
    .globl __jit_debug_register_code
    .type __jit_debug_register_code, @function
    .p2align 4
__jit_debug_register_code:
#if defined(SHAPE_FRAMED)
    endbr64
    push %rbp
    mov %rsp, %rbp
    pop %rbp
    ret
#elif defined(SHAPE_BUSY)
    incl calls(%rip)        /* something that nobody may take away */
    ret
#else
    ret
#endif
    .size __jit_debug_register_code, . - __jit_debug_register_code
    .p2align 4

#if defined(SHAPE_BUSY)
    .bss
calls:
    .long 0
#endif
    .section .note.GNU-stack, "", @progbits
