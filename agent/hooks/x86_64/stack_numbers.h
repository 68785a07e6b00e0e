// What stack_hooks.S tells entry_stacks.cpp of where it was called from, as plain numbers.
//
// Context   any.
#pragma once

#define JITQUILL_STACK_AT_SITE 0
#define JITQUILL_STACK_AT_FENTRY 1
#define JITQUILL_STACK_AT_MCOUNT 2
#define JITQUILL_STACK_AT_CYG 3

// In a sled's id: the stack of this function's entries is wanted. Only where the sled leads to
// jitquill_site_enter_stack.
#define JITQUILL_STACK_WANTED_BIT 31
