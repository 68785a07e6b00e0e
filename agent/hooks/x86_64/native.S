/* The hooks of native functions: what `mcount`, `__fentry__`, `__return__` and `__cyg_profile_func_*` come to.
 *
 * The libraries that show those names jump here, so the stack is as at the function's call of the name. All but the cyg
 * pair keep every register, vector registers in their whole width, but not the flags, which are dead at each of these
 * calls (glibc's mcount does not keep them either). No alignment of the stack is assumed.
 *
 * Where no call says that a function ends, its return address is taken: the word that holds it, the slot, gets the address
 * of a return hook, and the mirror word at slot - JITQUILL_MIRROR_DISTANCE and its copy what was there. First the mirror words: a
 * handler or a thread that walks the stack in between finds either state whole. hooks/mirror.hpp has the mirror. */
#include "agent/hooks/x86_64/native.inc"

        .text

/* eax = rax(r11, rdx, rcx), a function that uses general registers only. Keeps all but rax, rdx and r11. */
        .p2align 4
        .globl  jitquill_native_call_c
        .hidden jitquill_native_call_c
        .type   jitquill_native_call_c, @function
jitquill_native_call_c:
.Lcall_c:
        .cfi_startproc
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
        push    %r10
        and     $-16, %rsp
        mov     %r11, %rdi
        mov     %rdx, %rsi
        mov     %rcx, %rdx
        cld
        call    *%rax
        lea     -48(%rbp), %rsp
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rcx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        END     jitquill_native_call_c

/* The function's first instruction: the slot is the word above our return address. But gcc keeps the static chain of a nested
 * function by `push r10; call __fentry__; pop r10`: then it is the next one. */
        FUNCTION jitquill_native_fentry
        endbr64
        KEEP_SCRATCH
        lea     KEPT_SIZE + 8(%rsp), %rcx
        cmp     %r10, (%rcx)
        je      .Lmay_be_chain

        /* rcx = the slot; at KEPT_SIZE(%rsp) an address in the function. */
.Lenter:
        movabs  $-JITQUILL_MIRROR_DISTANCE, %rdx
        add     %rcx, %rdx
        mov     %rdx, %rax
        shr     $JITQUILL_MIRROR_PIECE_SHIFT, %rax
        and     $JITQUILL_MIRROR_PIECE_MASK, %eax
        lea     jitquill_mirror_pieces(%rip), %r11
        cmpb    $JITQUILL_MIRROR_IS_THERE, (%r11, %rax)
        jne     .Lno_mirror
        mov     KEPT_SIZE(%rsp), %rax
        and     $JITQUILL_LEFT_ALONE_MASK, %eax
        lea     jitquill_left_alone(%rip), %r11
        mov     (%r11, %rax, 8), %rax
        cmp     %rax, KEPT_SIZE(%rsp)
        je      .Lleft_alone
.Lwanted:
        mov     (%rcx), %rax
        mov     jitquill_return_hook(%rip), %r11
        sub     %r11, %rax
        cmp     $JITQUILL_RETURN_HOOK_SIZE, %rax
        jb      .Ltail_called
        add     %r11, %rax
        mov     %rax, (%rdx)
        add     .Lto_copy(%rip), %rdx
        mov     %rax, (%rdx)
        and     $JITQUILL_RETURN_ENTRY_MASK, %eax
        lea     (%r11, %rax, JITQUILL_RETURN_ENTRY_SIZE), %rax
        mov     %rax, (%rcx)
.Lput_enter:
        LOAD_CURSOR %r11
        RESERVE %r11, .Lput_enter_slowly
        mov     %rax, %r11
        mov     %rcx, %rdx
        MAKE_WHAT %rdx, kEnterAddress
        or      KEPT_SIZE(%rsp), %rdx
        mov     %rdx, JITQUILL_SITE_WHAT_AT(%r11)
        rdtsc                           /* as late as possible: this hook's time is not the function's */
        MAKE_WHEN %ecx
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%r11)
.Lskip:
        .cfi_remember_state
        TAKE_SCRATCH
        ret
        .cfi_restore_state

.Lput_enter_slowly:
        mov     %rcx, %r11
        MAKE_WHAT %r11, kEnterAddress
        or      KEPT_SIZE(%rsp), %r11
        xor     %edx, %edx              /* the slow path reads the clock */
        lea     jitquill_lane_put_slowly(%rip), %rax
        call    .Lcall_c
        jmp     .Lskip

        /* Whose return address was taken jumped here: it is over, and its caller waits for us now. */
.Ltail_called:
        mov     %rcx, %r11
        xor     %edx, %edx
        PUT_SLOWLY kTail
        jmp     .Lput_enter

        /* Nobody wants it. But where one that is wanted jumped here, that is over. */
.Lleft_alone:
        mov     (%rcx), %rax
        sub     jitquill_return_hook(%rip), %rax
        cmp     $JITQUILL_RETURN_HOOK_SIZE, %rax
        jae     .Lskip
        jmp     .Lwanted

.Lmay_be_chain:
        mov     KEPT_SIZE(%rsp), %r11
        lea     jitquill_fentry_keeps_chain(%rip), %rax
        call    .Lcall_c
        test    %eax, %eax
        jz      .Lenter
        add     $8, %rcx
        jmp     .Lenter

.Lno_mirror:
        mov     %rcx, %r11
        lea     jitquill_mirror_reach(%rip), %rax
        call    .Lcall_c
        cmp     $JITQUILL_MIRROR_TRY_AGAIN, %eax
        je      .Lenter
        cmp     $JITQUILL_MIRROR_ENTRY_ONLY, %eax
        je      .Lput_enter
        jmp     .Lskip
        END     jitquill_native_fentry

/* Behind the prologue: the slot is above the frame pointer, if the prologue is one of those that we know. What is known of
 * a site is remembered by the address that it returns to. */
        FUNCTION jitquill_native_mcount
        endbr64
        KEEP_SCRATCH
        mov     KEPT_SIZE(%rsp), %rax
        mov     %eax, %ecx
        and     $JITQUILL_MCOUNT_SITE_MASK, %ecx
        lea     jitquill_mcount_sites(%rip), %r11
        lea     8(%rbp), %rdx
        cmp     %rax, (%r11, %rcx, 8)
        mov     %rdx, %rcx
        je      .Lenter
        mov     %rax, %r11
        lea     jitquill_mcount_has_slot(%rip), %rax
        call    .Lcall_c
        test    %eax, %eax
        jnz     .Lenter
        jmp     .Lskip
        END     jitquill_native_mcount

/* Before each `ret`, and before each jump to another function, whose arguments are all there then. The return address goes
 * back to its slot: this is the end, and the return is predicted as any. */
        FUNCTION jitquill_native_return
        endbr64
        KEEP_SCRATCH
        lea     KEPT_SIZE + 8(%rsp), %rcx
        mov     (%rcx), %r11
        sub     jitquill_return_hook(%rip), %r11
        cmp     $JITQUILL_RETURN_HOOK_SIZE, %r11
        jae     .Lnot_taken
        rdtsc
        MAKE_WHEN %ecx
        lea     KEPT_SIZE + 8(%rsp), %rcx
        movabs  $-JITQUILL_MIRROR_DISTANCE, %rax
        mov     (%rcx, %rax), %rax
        shr     $JITQUILL_RETURN_ENTRY_SHIFT, %r11d
        xor     %eax, %r11d
        test    $JITQUILL_RETURN_ENTRY_MASK, %r11b
        jne     .Lnot_the_taken
        movabs  $-JITQUILL_MIRROR_COPY_DISTANCE, %r11
        cmp     %rax, (%rcx, %r11)
        mov     %eax, %r11d
        jne     .Lmend_taken
        mov     %rax, (%rcx)
.Lput_return:
        LOAD_CURSOR %r11
        RESERVE %r11, .Lput_return_slowly
        MAKE_WHAT %rcx, kLeave
        mov     %rcx, JITQUILL_SITE_WHAT_AT(%rax)
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%rax)
.Lskip_return:
        .cfi_remember_state
        TAKE_SCRATCH
        ret
        .cfi_restore_state

.Lput_return_slowly:
        mov     %rcx, %r11
        PUT_SLOWLY kLeave
        jmp     .Lskip_return

        /* Nor was its entry put, unless no slot has a mirror here. */
.Lnot_taken:
        movabs  $-JITQUILL_MIRROR_DISTANCE, %rax
        add     %rcx, %rax
        shr     $JITQUILL_MIRROR_PIECE_SHIFT, %rax
        and     $JITQUILL_MIRROR_PIECE_MASK, %eax
        lea     jitquill_mirror_pieces(%rip), %r11
        cmpb    $JITQUILL_MIRROR_IS_THERE, (%r11, %rax)
        je      .Lskip_return
        rdtsc
        MAKE_WHEN %ecx
        lea     KEPT_SIZE + 8(%rsp), %rcx
        jmp     .Lput_return

.Lnot_the_taken:
        xor     %eax, %r11d
.Lmend_taken:
        mov     %r11d, %edx
        mov     %rcx, %r11
        lea     jitquill_mirror_mend(%rip), %rax
        call    .Lcall_c
        test    %rax, %rax
        jz      jitquill_return_address_is_lost
        mov     %rax, (%rcx)
        xor     %edx, %edx
        jmp     .Lput_return_slowly
        END     jitquill_native_return

/* void jitquill_native_cyg_enter(void* function, void* caller), and _exit: calls as any other, so what System V lets a
 * callee change is free. Where in its frame the function stands tells its frame from others; an exit may be a jump, and
 * stand at the slot itself, which is where the caller stood: then the return address is `caller`, and the word below it is
 * the function's own. */
        FUNCTION jitquill_native_cyg_enter
        endbr64
        LOAD_CURSOR %r11
        RESERVE %r11, .Lcyg_enter_slowly
        mov     %rax, %r11
        mov     %rsp, %rcx
        MAKE_WHAT %rcx, kEnterWithin
        or      %rdi, %rcx
        mov     %rcx, JITQUILL_SITE_WHAT_AT(%r11)
        mov     %rsp, %rcx
        rdtsc
        MAKE_WHEN %ecx
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%r11)
        ret
.Lcyg_enter_slowly:
        mov     %rsp, %rdx
        mov     %rdx, %rcx
        MAKE_WHAT %rcx, kEnterWithin
        or      %rcx, %rdi
        xor     %esi, %esi
        jmp     jitquill_lane_put_slowly
        END     jitquill_native_cyg_enter

        FUNCTION jitquill_native_cyg_exit
        endbr64
        rdtsc
        lea     -8(%rsp), %r8
        cmp     %rsi, (%rsp)
        cmovne  %rsp, %r8
        mov     %r8, %rcx
        MAKE_WHEN %ecx
        mov     %r8, %rcx
        MAKE_WHAT %rcx, kLeaveWithin
        or      %rdi, %rcx
        LOAD_CURSOR %r11
        RESERVE %r11, .Lcyg_exit_slowly
        mov     %rcx, JITQUILL_SITE_WHAT_AT(%rax)
        mov     %rdx, JITQUILL_SITE_WHEN_AT(%rax)
        ret
.Lcyg_exit_slowly:
        mov     %rcx, %rdi
        mov     %rdx, %rsi
        mov     %r8, %rdx
        jmp     jitquill_lane_put_slowly
        END     jitquill_native_cyg_exit

/* Where names lead whose first call wakes the agent: an entry for each of each library, by its number. What they lead to then is called
 * as if nothing had been in between. */
        FUNCTION jitquill_native_wake
        .rept   JITQUILL_MOST_NAME_LIBRARIES * JITQUILL_MOST_NAMES
        .p2align 4
        .cfi_def_cfa_offset 8
        .byte   0xf3, 0x0f, 0x1e, 0xfa                  /* endbr64 */
        .byte   0x6a                                    /* push $number */
        .byte   (. - 5 - jitquill_native_wake) / JITQUILL_WAKE_ENTRY_SIZE
        .cfi_def_cfa_offset 16
        .byte   0xe9                                    /* jmp */
        .long   .Lwake - . - 4
        .endr
.Lwake:
        KEEP_SCRATCH
        mov     KEPT_SIZE(%rsp), %r11
        lea     jitquill_native_wake_up(%rip), %rax
        call    .Lcall_c
        mov     %rax, KEPT_SIZE(%rsp)
        TAKE_SCRATCH
        lea     8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        notrack jmp *-8(%rsp)           /* handlers leave 128 bytes alone */
        END     jitquill_native_wake

/* Where a name leads while nothing is traced. */
        FUNCTION jitquill_native_nothing
        endbr64
        ret
        END     jitquill_native_nothing

        .section .rodata
        .p2align 3
.Lto_copy:
        .quad   JITQUILL_MIRROR_DISTANCE - JITQUILL_MIRROR_COPY_DISTANCE

        .section .note.GNU-stack, "", @progbits
