// What the static part of ITT in a runtime does: it loads the collector that INTEL_JIT_PROFILER64 names at
// the first report, and passes reports on. Written from the interface's description, not from its source.
//
// Context   host programs.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

class Emitter {
 public:
  Emitter() {
    const char* const name = std::getenv("INTEL_JIT_PROFILER64");
    void* const library = name == nullptr ? nullptr : dlopen(name, RTLD_LAZY);
    if (library == nullptr) return;
    auto* const initialize = reinterpret_cast<unsigned (*)()>(dlsym(library, "Initialize"));
    auto* const notify = reinterpret_cast<unsigned (*)(unsigned, void*)>(dlsym(library, "NotifyEvent"));
    if (initialize == nullptr || notify == nullptr) return;
    mode_ = initialize();
    notify_ = notify;
  }

  unsigned mode() const { return mode_; }
  bool is_loaded() const { return notify_ != nullptr; }
  unsigned notify(unsigned event, void* of) const { return notify_ == nullptr ? 0 : notify_(event, of); }

 private:
  unsigned mode_ = 0;
  unsigned (*notify_)(unsigned, void*) = nullptr;
};
