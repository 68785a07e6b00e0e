#include "agent/intake/jvmti/events.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/jvmti/tables.hpp"
#include "agent/intake/jvmti/vm_flags.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::intake::jvmti {
namespace {

constinit std::atomic<bool> g_is_over{false};
constinit std::atomic<bool> g_has_frame_pointers{false};

// The VM's code around an event expects errno as it was.
class KeptErrno {
 public:
  KeptErrno() noexcept : error_(errno) {}
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int error_;
};

bool is_wanted() noexcept {
  return !g_is_over.load(std::memory_order_relaxed) && wants_code();
}

CodeLoad load_at(const void* address, std::int32_t size) noexcept {
  CodeLoad load;
  load.address = reinterpret_cast<std::uint64_t>(address);
  load.bytes = {static_cast<const std::uint8_t*>(address), static_cast<std::size_t>(size)};
  if (g_has_frame_pointers.load(std::memory_order_relaxed))
    load.unwinding.kind = Unwinding::Kind::kFramePointers;
  return load;
}

void tell(CodeLoad& load, Counter kind) {
  if (is_done(tell_load(load))) count(kind);
}

void on_method(Env* env, MethodId method, std::int32_t size, const void* address, std::int32_t map_length,
               const CodeStart* map, const void* compile_info) {
  if (!is_wanted()) return;
  const KeptErrno kept;
  Scratch scratch;
  Methods methods(*env, scratch);
  const Method* const outermost = address == nullptr || size <= 0 ? nullptr : methods.find(method);
  if (outermost == nullptr) {
    count(Counter::java_refused);
    return;
  }
  CodeLoad load = load_at(address, size);
  const auto stretches = stretches_of(
      {method, load.address, static_cast<std::uint32_t>(size), map, map_length, compile_info}, scratch);
  load.name = outermost->name;
  load.file = outermost->file;
  load.lines = lines_of(stretches, methods, scratch);
  // Of code that was there before, a VM tells no place in a loop that it never stops in.
  const Line beginning{0, outermost->line_at(0), 0, outermost->file};
  if (load.lines.empty() && beginning.line != 0) load.lines = {&beginning, 1};
  if (wants_inlining()) load.inlining = inlining_of(stretches, methods, scratch);
  tell(load, Counter::java_methods);
}

void on_method_gone(Env*, MethodId, const void* address) {
  if (!is_wanted()) return;
  const KeptErrno kept;
  (void)tell_unload(reinterpret_cast<std::uint64_t>(address));
}

// Stubs, adapters, and the interpreter as a whole. Some come before the VM can be asked anything.
void on_stub(Env*, const char* name, const void* address, std::int32_t size) {
  if (!is_wanted()) return;
  const KeptErrno kept;
  std::array<char, 256> copied{};
  if (name == nullptr || address == nullptr || size <= 0) {
    count(Counter::java_refused);
    return;
  }
  (void)safe_copy({reinterpret_cast<const std::uint8_t*>(name), copied.size() - 1},
                  reinterpret_cast<std::uint8_t*>(copied.data()), 0);
  CodeLoad load = load_at(address, size);
  load.name = copied.data();
  tell(load, Counter::java_stubs);
}

void on_death(Env*, void*) {
  g_is_over.store(true, std::memory_order_relaxed);
}

constexpr std::int32_t kEvents[] = {kVmDeath, kCompiledMethodLoad, kCompiledMethodUnload,
                                    kDynamicCodeGenerated};

// The table of callbacks is in the order of the events' numbers.
bool set_callbacks(Env& env) noexcept {
  std::array<const void*, kEventsEnd - kFirstEvent> callbacks{};
  callbacks[kVmDeath - kFirstEvent] = reinterpret_cast<const void*>(&on_death);
  callbacks[kCompiledMethodLoad - kFirstEvent] = reinterpret_cast<const void*>(&on_method);
  callbacks[kCompiledMethodUnload - kFirstEvent] = reinterpret_cast<const void*>(&on_method_gone);
  callbacks[kDynamicCodeGenerated - kFirstEvent] = reinterpret_cast<const void*>(&on_stub);
  return SetEventCallbacks(env)(&env, callbacks.data(), sizeof callbacks) == 0;
}

}  // namespace

bool subscribe(Env& env) {
  // Without it compiled code uses rbp for anything, and nobody but the VM knows how large its frames are.
  g_has_frame_pointers.store(vm_flag(find_vm_tables(), "PreserveFramePointer") == true,
                             std::memory_order_relaxed);
  const Capabilities wanted{kCanGenerateCompiledMethodLoadEvents | kCanGetLineNumbers | kCanGetSourceFileName,
                            0};
  if (AddCapabilities(env)(&env, &wanted) != 0 || !set_callbacks(env)) return false;
  for (const std::int32_t event : kEvents) {
    if (SetEventNotificationMode(env)(&env, kEnable, event, nullptr) != 0) return false;
  }
  return true;
}

void replay(Env& env) {
  (void)GenerateEvents(env)(&env, kDynamicCodeGenerated);
  (void)GenerateEvents(env)(&env, kCompiledMethodLoad);
}

}  // namespace jitquill::intake::jvmti
