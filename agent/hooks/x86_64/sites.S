/* The hooks of jitted sites: one record of 16 bytes in the thread's lane, agent/lanes/record.hpp.
 *
 * A site is a sled of 11 bytes, `41 BA id32` (mov r10d, id) and `E8 rel32` (call), whose call reaches these through a
 * thunk that jumps. So on arrival the slot, the stack word with the return address of the traced function, is rsp + 8.
 *
 * The cursor: jitquill_lane_cursor (thread's own, initial-exec) points to a word that holds the address of the next
 * record. Null, and a cursor in the first 256 bytes of a block of 8 KiB, have no room: jitquill_lane_put_slowly()
 * makes some. One xadd reserves, the position it returns is tested alone: a handler that comes in between gets its own
 * record, and may move the cursor to another block. `what` is stored before `when`, whose being there makes the
 * record. No lock prefix: only this thread writes the cursor.
 *
 * Nothing is assumed of the stack's alignment, nothing lives below rsp at a site, and no vector instruction is executed,
 * here or in what the slow path calls. Flags are not kept. */
#include "agent/hooks/x86_64/site_numbers.h"

/* The record kinds become symbols of the assembler. */
#define RECORD_KIND(name, number, what, slot) .set name, number
#include "agent/lanes/record_kind.def"
#undef RECORD_KIND

        /* \to = jitquill_lane_cursor. */
        .macro LOAD_CURSOR to
        mov     jitquill_lane_cursor@gottpoff(%rip), \to
        mov     %fs:(\to), \to
        .endm

        /* \slot, the slot's address, becomes the high 16 bits of `what`, all others 0: the kind in bits 48..51, slot >> 19
         * in bits 52..63. */
        .macro MAKE_WHAT slot, kind
        shr     $15, \slot
        and     $-16, \slot
        or      $\kind, \slot
        shl     $48, \slot
        .endm

        /* rdx:rax, as RDTSC leaves them, and the slot's address in \slot become `when` in rdx. rax keeps the counter's low
         * half; \slot32 is the low half of \slot. slot << 13 has slot >> 3 in its bits 16..31. */
        .macro MAKE_WHEN slot32
        shl     $13, \slot32
        movzwl  %dx, %edx
        or      \slot32, %edx
        shl     $32, %rdx
        or      %rax, %rdx
        .endm

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
        test    %r11, %r11
        jz      .Lenter_slowly
        mov     $JITQUILL_SITE_RECORD_SIZE, %eax
        xadd    %rax, (%r11)
        test    $JITQUILL_SITE_NO_ROOM_MASK, %eax
        jz      .Lenter_slowly
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
        test    %r11, %r11
        jz      .L\name\()_slowly
        mov     $JITQUILL_SITE_RECORD_SIZE, %eax
        xadd    %rax, (%r11)
        test    $JITQUILL_SITE_NO_ROOM_MASK, %eax
        jz      .L\name\()_slowly
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
