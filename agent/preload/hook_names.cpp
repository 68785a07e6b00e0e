// What hook_names.S jumps through, and the one call that lets the agent have it. Until functions are traced
// each name leads to who would have been called without us, as libc's mcount, which gprof's programs count
// calls by.
//
// Context   [life]: the loader's thread.
#include <dlfcn.h>

#include "agent/preload/agent_calls.hpp"

namespace {

constexpr const char* kNames[] = {
#define NATIVE_HOOK(name, number, hook) #name,
#include "agent/native_hooks.def"
#undef NATIVE_HOOK
};
constexpr std::uint32_t kCount = sizeof kNames / sizeof kNames[0];

}  // namespace

extern "C" {
[[gnu::visibility("hidden")]] constinit std::atomic<const void*> jitquill_hook_targets[kCount]{};
}

namespace {

[[gnu::constructor]] void show_names() {
  using jitquill::PrivateFunctions;
  for (std::uint32_t i = 0; i < kCount; ++i)
    jitquill_hook_targets[i].store(::dlsym(RTLD_NEXT, kNames[i]), std::memory_order_release);
  jitquill::preload::call_agent(&PrivateFunctions::native_names_shown, jitquill_hook_targets, kCount);
}

}  // namespace
