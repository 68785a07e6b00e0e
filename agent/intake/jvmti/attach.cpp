#include "agent/intake/jvmti/attach.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <ctime>

#include "agent/base/counters.hpp"
#include "agent/base/elf_object.hpp"
#include "agent/base/own_thread.hpp"
#include "agent/intake/jvmti/events.hpp"
#include "agent/intake/jvmti/vm.hpp"
#include "agent/intake/told.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace jvmti {
namespace {

constexpr long kStepNs = 1'000'000;
constexpr long kMostStepNs = 64'000'000;
constexpr long kMostWaitNs = 10'000'000'000;
constexpr const char* kThreadName = "jitquill";
// HotSpot puts guard zones of some 100 KiB into the stack, and runs the constructor of Thread on the rest.
constexpr std::size_t kStackSize = 512 * 1024;

// What this process is to a VM. A forked child has its parent's word, but neither its thread nor its VM.
class State {
 public:
  enum Kind : std::uint64_t { kNone, kWaiting, kAttached };

  Kind kind() const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    return word >> kKindBits == pid() ? static_cast<Kind>(word & kKindMask) : kNone;
  }
  void set(Kind kind) noexcept { word_.store(pid() << kKindBits | kind, std::memory_order_release); }
  // True for one caller only, whatever it was before.
  bool claim() noexcept {
    const std::uint64_t mine = pid() << kKindBits | kAttached;
    return word_.exchange(mine, std::memory_order_acq_rel) != mine;
  }

 private:
  static constexpr int kKindBits = 2;
  static constexpr std::uint64_t kKindMask = 3;
  static std::uint64_t pid() noexcept { return static_cast<std::uint64_t>(raw::call(SYS_getpid)); }

  std::atomic<std::uint64_t> word_{0};
};
constinit State g_state;

// Longer from time to time. False: it has been long enough.
class Patience {
 public:
  bool wait() noexcept {
    if (waited_ns_ >= kMostWaitNs) return false;
    const timespec step{0, step_ns_};
    (void)raw::call(SYS_nanosleep, &step, nullptr);
    waited_ns_ += step_ns_;
    // The first tenth of a second is when VMs start.
    if (waited_ns_ > 100 * kStepNs && step_ns_ < kMostStepNs) step_ns_ *= 2;
    return true;
  }

 private:
  long step_ns_ = kStepNs;
  long waited_ns_ = 0;
};

bool is_live(Env& env) noexcept {
  std::int32_t phase = 0;
  return GetPhase(env)(&env, &phase) == 0 && phase == kPhaseLive;
}

// An environment with which events can be had, or null.
Env* open_live(Vm& vm, Patience& patience) noexcept {
  do {
    void* opened = nullptr;
    if (GetEnv(vm)(&vm, &opened, kJvmtiVersion) != 0 || opened == nullptr) continue;
    auto* const env = static_cast<Env*>(opened);
    if (is_live(*env)) return env;
    (void)DisposeEnvironment (*env)(env);
  } while (patience.wait());
  return nullptr;
}

void become_agent(Env& env, bool tells_the_past) {
  if (!g_state.claim()) {  // the other way was faster
    (void)DisposeEnvironment(env)(&env);
  } else if (!subscribe(env)) {
    count(Counter::java_refused);
    (void)DisposeEnvironment(env)(&env);
  } else if (tells_the_past) {
    replay(env);
  }
}

void attach_and_listen(Vm& vm, Patience& patience) {
  const AttachArguments arguments{kJniVersion, kThreadName, nullptr};
  void* jni = nullptr;
  if (AttachCurrentThreadAsDaemon(vm)(&vm, &jni, &arguments) != 0) return;
  if (Env* const env = open_live(vm, patience); env != nullptr) become_agent(*env, true);
  (void)DetachCurrentThread(vm)(&vm);
}

void wait_for_vm() {
  (void)raw::call(SYS_prctl, PR_SET_NAME, kThreadName);
  Patience patience;
  while (g_state.kind() == State::kWaiting) {
    if (Vm* const vm = find_ready_vm(); vm != nullptr) {
      attach_and_listen(*vm, patience);
      break;
    }
    if (!patience.wait()) break;
  }
  if (g_state.kind() == State::kWaiting) g_state.set(State::kNone);  // the next look may begin anew
}

}  // namespace

void attach_to_java(void* vm_of_caller, bool is_live) {
  if (!wants_code()) return;
  auto& vm = *static_cast<Vm*>(vm_of_caller);
  void* env = nullptr;
  if (GetEnv(vm)(&vm, &env, kJvmtiVersion) == 0 && env != nullptr)
    become_agent(*static_cast<Env*>(env), is_live);
}

}  // namespace jvmti

bool look_for_jvmti(const ElfObject& object) {
  return jvmti::g_state.kind() == jvmti::State::kNone && jvmti::makes_vms(object);
}

void start_jvmti() {
  jvmti::g_state.set(jvmti::State::kWaiting);
  if (!start_own_thread(&jvmti::wait_for_vm, jvmti::kStackSize)) jvmti::g_state.set(jvmti::State::kNone);
}

}  // namespace jitquill::intake
