// libjitquill-ittnotify.so: what the static part of Intel's ITT API in a runtime loads from
// INTEL_JIT_PROFILER64, as it would VTune's collector (docs/intake-itt.md).
//
// Context   [notify]: a thread of the runtime, its locks may be held. What is done: intake/itt/itt.hpp.
// Does not  show anything of ITT's other half, the tracing of tasks (INTEL_LIBITTNOTIFY64).
#include "agent/preload/agent_calls.hpp"

using jitquill::PrivateFunctions;
using jitquill::preload::agent_function;

extern "C" {

// 1: code is wanted. 0: the runtime may stop telling.
[[gnu::visibility("default")]] unsigned Initialize() {
  auto* const initialize = agent_function(&PrivateFunctions::itt_initialize);
  return initialize != nullptr ? initialize() : 0;
}

[[gnu::visibility("default")]] unsigned NotifyEvent(unsigned event, void* of) {
  auto* const notify = agent_function(&PrivateFunctions::itt_notify);
  return notify != nullptr ? notify(event, of) : 1;
}

}  // extern "C"
