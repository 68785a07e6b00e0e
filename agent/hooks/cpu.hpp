// What a CPU must provide for hooks, beside sites.S: the one place that looks which one it is.
//
// Context   [hook]: general registers only, no libc.
#pragma once

#if defined(__x86_64__)
#include "agent/hooks/x86_64/cpu.hpp"
#else
#error "Jitquill's hooks are written for x86-64; docs/porting.md says what another CPU has to provide"
#endif
