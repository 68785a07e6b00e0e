// What hook_names.S jumps through, and the one call that lets the agent have it.
//
// Context   [life]: the loader's thread.
#include "agent/preload/agent_calls.hpp"

namespace {

constexpr std::uint32_t kNames = 0
#define NATIVE_HOOK(name, number, hook) +1
#include "agent/life/native_hooks.def"
#undef NATIVE_HOOK
    ;

}  // namespace

extern "C" {
[[gnu::visibility("hidden")]] constinit std::atomic<const void*> jitquill_hook_targets[kNames]{};
}

namespace {

[[gnu::constructor]] void show_names() {
  using jitquill::PrivateFunctions;
  jitquill::preload::call_agent(&PrivateFunctions::native_names_shown, jitquill_hook_targets, kNames);
}

}  // namespace
