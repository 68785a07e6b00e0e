// libjitquill-jvmti.so: what a Java VM calls in a library that it was told to load (-agentpath, jcmd).
//
// Context   the VM's thread that starts it, before any code is compiled; or one that serves jcmd.
// Promises  the VM starts whatever becomes of us: a result other than 0 would end it.
#include <cstdint>

#include "agent/preload/agent_calls.hpp"

#define SHOWN extern "C" [[gnu::visibility("default")]] std::int32_t

SHOWN Agent_OnLoad(void* vm, char*, void*) {
  jitquill::preload::let_agent_attach(vm, false);
  return 0;
}

SHOWN Agent_OnAttach(void* vm, char*, void*) {
  jitquill::preload::let_agent_attach(vm, true);
  return 0;
}
