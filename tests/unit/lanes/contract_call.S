/* void contract_call(const void* function, const struct contract* c, uint64_t shift)
 *
 * struct contract { uint64_t before[15], after[15]; void *vectors_before, *vectors_after, *vectors_none; };
 *
 * Loads all general registers (rax rbx rcx rdx rsi rdi rbp r8 r9 r12 .. r15, then two that are not looked at) and all
 * states of XSAVE with mask 0xe7, calls, and stores what they are then. `shift`, 0 or 8: of the stack pointer's alignment. */
#define STATES 0xe7
#define AFTER 120
#define VECTORS_BEFORE 240
#define VECTORS_AFTER 248
#define VECTORS_NONE 256

        .text
        .globl  contract_call
        .type   contract_call, @function
contract_call:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        push    %rsi
        mov     %rsp, %rcx
        sub     %rdx, %rsp
        push    %rcx
        mov     %rdi, %r11
        mov     %rsi, %r10
        mov     VECTORS_BEFORE(%r10), %rcx
        mov     $STATES, %eax
        xor     %edx, %edx
        xrstor64 (%rcx)
        mov     (%r10), %rax
        mov     8(%r10), %rbx
        mov     16(%r10), %rcx
        mov     24(%r10), %rdx
        mov     32(%r10), %rsi
        mov     40(%r10), %rdi
        mov     48(%r10), %rbp
        mov     56(%r10), %r8
        mov     64(%r10), %r9
        mov     72(%r10), %r12
        mov     80(%r10), %r13
        mov     88(%r10), %r14
        mov     96(%r10), %r15
        call    *%r11
        mov     (%rsp), %rsp
        mov     (%rsp), %r10
        mov     %rax, AFTER(%r10)
        mov     %rbx, AFTER+8(%r10)
        mov     %rcx, AFTER+16(%r10)
        mov     %rdx, AFTER+24(%r10)
        mov     %rsi, AFTER+32(%r10)
        mov     %rdi, AFTER+40(%r10)
        mov     %rbp, AFTER+48(%r10)
        mov     %r8, AFTER+56(%r10)
        mov     %r9, AFTER+64(%r10)
        mov     %r12, AFTER+72(%r10)
        mov     %r13, AFTER+80(%r10)
        mov     %r14, AFTER+88(%r10)
        mov     %r15, AFTER+96(%r10)
        mov     $STATES, %eax
        xor     %edx, %edx
        mov     VECTORS_AFTER(%r10), %rcx
        xsave64 (%rcx)
        mov     VECTORS_NONE(%r10), %rcx
        xrstor64 (%rcx)
        add     $8, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   contract_call, . - contract_call

/* int spoil_vectors(uint32_t, const void*): as a function of a libc that uses all that it may. */
        .globl  spoil_vectors
        .type   spoil_vectors, @function
spoil_vectors:
        pcmpeqd %xmm0, %xmm0
        pcmpeqd %xmm7, %xmm7
        pcmpeqd %xmm15, %xmm15
        fninit
        xor     %eax, %eax
        ret
        .size   spoil_vectors, . - spoil_vectors

        .section .note.GNU-stack, "", @progbits
