// What the sites of jitted functions call: one record in the lane of their thread.
//
// A site that is on is `41 BA id32` (mov r10d, code id) and `E8 rel32` (call), which reaches its hook through
// a thunk that jumps. They are no C functions: r10 is their argument, and the word above their return address
// is the slot.
//
//   site of kind                                      hook
//   entry: the function's first instruction           jitquill_site_enter, or jitquill_site_enter_stack
//   exit: directly before each `ret`                  jitquill_site_leave
//   tail: directly before a jump to another function  jitquill_site_tail
//
// Context   [hook]
// Promises  all registers but r10, r11 and flags are kept, vector registers in their whole width; no
//           alignment of the stack is assumed; errno is kept; unwinding works at every instruction.
// Does not  write below the stack pointer of the site, but for what it pushes: a site is where the function
//           has no red zone, so at its start, or when its frame is gone.
#pragma once

extern "C" {
[[gnu::visibility("hidden")]] void jitquill_site_enter();
[[gnu::visibility("hidden")]] void jitquill_site_enter_stack();  // x86_64/stack_hooks.S
[[gnu::visibility("hidden")]] void jitquill_site_leave();
[[gnu::visibility("hidden")]] void jitquill_site_tail();
}
