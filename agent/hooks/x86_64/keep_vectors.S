/* int jitquill_call_keeping_vectors(int (*function)(uint32_t, const void*), uint32_t a, const void* b, void* area)
 *
 * Saves x87, xmm, ymm, zmm and the mask registers, MXCSR too, in `area` (XSAVE's standard form: at most 2,688 bytes on
 * every CPU there is, its header zero before), calls function(a, b), and loads them again. Not the tiles of AMX, which
 * libc does not touch. */
#define KEPT_STATES 0xe7

        .text
        .globl  jitquill_call_keeping_vectors
        .hidden jitquill_call_keeping_vectors
        .type   jitquill_call_keeping_vectors, @function
        .p2align 4
jitquill_call_keeping_vectors:
        .cfi_startproc
        endbr64
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        mov     %rcx, %rbx
        mov     %rdi, %r8
        mov     %esi, %edi
        mov     %rdx, %rsi
        mov     $KEPT_STATES, %eax
        xor     %edx, %edx
        xsave64 (%rbx)
        call    *%r8
        mov     %eax, %ecx
        mov     $KEPT_STATES, %eax
        xor     %edx, %edx
        xrstor64 (%rbx)
        mov     %ecx, %eax
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        .cfi_endproc
        .size   jitquill_call_keeping_vectors, . - jitquill_call_keeping_vectors

        .section .note.GNU-stack, "", @progbits
