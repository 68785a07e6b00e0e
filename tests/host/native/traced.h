/* How functions are made whose calls are traced, and counted by whoever looks: in C and C++, by gcc and
 * clang.
 *
 *   CALL        stays a function of its own, under its plain name
 *   APART       the first of the two: for what is static, or a member
 *   UNTRACED    calls no hook
 *   KEEP_FRAME  in front of a return: what was called before is no tail call, and its result not guessed */
#pragma once

#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
#define CALL LINKAGE APART
#define UNTRACED __attribute__((no_instrument_function, noinline))
#define KEEP_FRAME __asm__ volatile("" ::: "memory")
