/* uint64_t stepped_call(const void* function, const uint64_t arguments[8])
 *
 * Above the return address lie the seventh and eighth argument, in 32 bytes that functions of the Windows
 * convention may use.
 *
 * Calls the function with the trap flag set, so that each of its instructions raises SIGTRAP, and with a value
 * in each preserved register that occurs nowhere else. */
        .text
        .globl  stepped_call
        .type   stepped_call, @function
stepped_call:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        mov     %rdi, %rax
        mov     %rsi, %r10
        sub     $24, %rsp
        push    56(%r10)
        push    48(%r10)
        mov     (%r10), %rdi
        mov     8(%r10), %rsi
        mov     16(%r10), %rdx
        mov     24(%r10), %rcx
        mov     32(%r10), %r8
        mov     40(%r10), %r9
        movabs  $0xb0b1b2b3b4b5b601, %rbx
        movabs  $0xb0b1b2b3b4b5b602, %rbp
        movabs  $0xb0b1b2b3b4b5b603, %r12
        movabs  $0xb0b1b2b3b4b5b604, %r13
        movabs  $0xb0b1b2b3b4b5b605, %r14
        movabs  $0xb0b1b2b3b4b5b606, %r15
        pushfq
        orq     $0x100, (%rsp)
        popfq
        call    *%rax
        pushfq
        andq    $~0x100, (%rsp)
        popfq
        add     $40, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   stepped_call, . - stepped_call
        .section .note.GNU-stack,"",@progbits
