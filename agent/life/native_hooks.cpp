#include "agent/life/native_hooks.hpp"

#include <algorithm>
#include <iterator>

#include "agent/base/clock.hpp"
#include "agent/base/loaded_objects.hpp"
#include "agent/base/own_thread.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/drain/process_drain.hpp"
#include "agent/hooks/left_alone.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/hooks/name_targets.hpp"
#include "agent/life/agent.hpp"
#include "agent/life/in_handler.hpp"

#define NATIVE_HOOK(name, number, hook) extern "C" [[gnu::visibility("hidden")]] void hook();
#include "agent/native_hooks.def"
#undef NATIVE_HOOK
extern "C" {
[[gnu::visibility("hidden")]] void jitquill_native_nothing();
[[gnu::visibility("hidden")]] void jitquill_native_mcount_stack();
[[gnu::visibility("hidden")]] void jitquill_native_fentry_stack();
[[gnu::visibility("hidden")]] void jitquill_native_cyg_enter_stack();
}

namespace jitquill {
namespace {

constexpr const char* kNames[] = {
#define NATIVE_HOOK(name, number, hook) #name,
#include "agent/native_hooks.def"
#undef NATIVE_HOOK
};
const void* const g_hooks[] = {
#define NATIVE_HOOK(name, number, hook) reinterpret_cast<const void*>(&hook),
#include "agent/native_hooks.def"
#undef NATIVE_HOOK
};
static_assert(std::size(g_hooks) <= name_targets::kMostNames);

const void* g_served[std::size(g_hooks)];  // by which each name is served while it is on

// What takes the stack first, of hooks of entries.
const void* with_stack(const void* hook) noexcept {
  const struct {
    void (*hook)();
    void (*with_stack)();
  } entries[] = {{&jitquill_native_mcount, &jitquill_native_mcount_stack},
                 {&jitquill_native_fentry, &jitquill_native_fentry_stack},
                 {&jitquill_native_cyg_enter, &jitquill_native_cyg_enter_stack}};
  for (const auto& entry : entries)
    if (reinterpret_cast<const void*>(entry.hook) == hook)
      return reinterpret_cast<const void*>(entry.with_stack);
  return hook;
}

// What the objects of this process are like.
struct Callers {
  bool any = false;
  bool has_traced_allocator = false;
  mirror::Surroundings surroundings;
};

void may_leave_alone(const ElfObject& program) noexcept {
  for (const ElfW(Phdr) & segment : program.segments()) {
    const std::uint64_t start = program.base() + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      left_alone::may_hold(start, start + segment.p_memsz);
  }
}

bool calls_a_hook(const ElfObject& object) noexcept {
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return object.needs(name); });
}

Callers look_for_callers() noexcept {
  Callers callers;
  bool has_allocator = false;
  bool has_engine = false;
  bool has_program = false;
  for_each_loaded_object([&](const ElfObject& object) {
    if (!has_program) may_leave_alone(object);  // it comes first
    has_program = true;
    const bool is_caller = calls_a_hook(object);
    callers.any |= is_caller;
    if (!has_allocator && object.find("malloc") != 0) {
      has_allocator = true;  // the first is the one that is called
      callers.has_traced_allocator = is_caller;
    }
    callers.surroundings.has_exit_sites |= object.needs("__return__");
    for (const char* const sanitizer : {"__tsan_init", "__msan_init"})
      callers.surroundings.has_fixed_layout |= object.find(sanitizer) != 0;
    if (has_engine || object.find("_Unwind_RaiseException") == 0) return;
    has_engine = true;  // the first in the order of loading is the one that is called
    callers.surroundings.has_nongnu_unwinder = object.find("unw_backtrace") != 0;
  });
  return callers;
}

std::atomic<bool> g_has_traced_allocator{false};
std::atomic<std::uint32_t> g_put_off_pid{0};  // of the process whose drain was put off
std::atomic<bool> g_forks_alone{false};       // the host had one thread

enum class Place : std::uint8_t { kAnywhere, kWhereHostAllocates };

void put_off_drain(Agent& agent) {
  if (!agent.put_off_drain() || g_put_off_pid.exchange(current_pid()) == current_pid()) return;
  agent.remark(
      "the program's allocator is traced, and may be at work here: until the program makes its next thread "
      "itself, events of functions wait for its end, as far as memory= holds them");
}

void wake(Place place) {
  const Callers callers = look_for_callers();
  (void)with_agent(
      [&](Agent& agent) {
        mirror::start(callers.surroundings);
        const Status woken = agent.wake_for_native();
        if (place == Place::kAnywhere && callers.has_traced_allocator) put_off_drain(agent);
        return woken;
      },
      [](Agent&) { return Status::kBusy; });
}

// What opens outputs may not be done in a handler: the next call tries.
int wake_agent(std::uint32_t, const void*) {
  if (!is_in_handler()) wake(Place::kAnywhere);
  return 0;
}

// What libc has under these names counts calls for gprof, in a program that begins that by one of its names.
// For all others it is a slow way to do nothing.
void pass_libc_by(std::atomic<const void*>* targets, std::uint32_t count) noexcept {
  bool has_gprof = false;
  std::uintptr_t of_libc[std::size(kNames)] = {};
  for_each_loaded_object([&](const ElfObject& object) {
    for (const char* const begin : {"__monstartup", "monstartup", "moncontrol"})
      has_gprof |= object.needs(begin);
    if (object.find("gnu_get_libc_version") == 0) return;
    for (std::size_t row = 0; row < std::size(kNames); ++row) of_libc[row] = object.find(kNames[row]);
  });
  for (std::uint32_t row = 0; row < count && row < std::size(kNames) && !has_gprof; ++row) {
    const void* const target = targets[row].load();
    if (target != nullptr && reinterpret_cast<std::uintptr_t>(target) == of_libc[row])
      targets[row].store(reinterpret_cast<const void*>(&jitquill_native_nothing));
  }
}

}  // namespace

void native_names_shown(std::atomic<const void*>* targets, std::uint32_t count) {
  Callers callers = look_for_callers();
  if (callers.any) pass_libc_by(targets, count);
  g_has_traced_allocator.store(callers.has_traced_allocator);
  (void)with_agent(
      [&](Agent& agent) {
        callers.surroundings.leaves_returns = !agent.takes_return_addresses();
        mirror::start(callers.surroundings);
        name_targets::wake_by(wake_agent);
        return agent.add_native_names(targets, count, callers.any);
      },
      [](Agent&) { return Status::kBusy; });
}

// An allocator that knows nothing of forks may be locked for ever by a thread that the child does not have.
void fork_comes() noexcept {
  const bool is_sampled = agent().wants().samples && agent().is_here();
  if (!is_sampled && !g_has_traced_allocator.load(std::memory_order_relaxed)) return;
  g_forks_alone.store((is_sampled || name_targets::are_on()) && is_only_thread_of_host());
}

void child_came() {
  if (!g_forks_alone.exchange(false) || is_in_handler()) return;
  if (name_targets::is_call_awaited()) return wake(Place::kWhereHostAllocates);
  (void)with_agent([](Agent& agent) { return agent.is_to_be_sampled() ? agent.begin() : Status::kOk; },
                   [](Agent&) { return Status::kBusy; });
}

void thread_comes() {
  const std::uint32_t pid = g_put_off_pid.load(std::memory_order_relaxed);
  if (pid == 0 || pid != current_pid()) return;
  g_put_off_pid.store(0);
  (void)with_agent([](Agent&) { return Status::kOk; }, [](Agent&) { return Status::kBusy; });
}

void NativeHooks::add(std::atomic<const void*>* targets, std::uint32_t count, bool have_callers) noexcept {
  have_callers_ |= have_callers;
  name_targets::add(targets, g_served, std::min<std::uint32_t>(count, std::size(g_hooks)));
}

void NativeHooks::turn(bool on, bool may_wake, bool with_stacks) noexcept {
  using name_targets::Mode;
  for (std::size_t row = 0; row < std::size(g_hooks); ++row) {
    const void* const hook = with_stacks ? with_stack(g_hooks[row]) : g_hooks[row];
    if (g_served[row] != hook) g_served[row] = hook;
  }
  name_targets::turn(on ? Mode::kOn : may_wake && !has_tried_ ? Mode::kWake : Mode::kOff);
}

namespace {

// Code of modules is told by their names, so that each must have its time.
bool names_modules() noexcept {
  const Wants wants = agent().wants();
  return (name_targets::are_on() || wants.samples || wants.stacks) && agent().is_here();
}

}  // namespace

void objects_go() {
  if (!names_modules()) return;
  (void)guest_call([] {
    drain::ProcessDrain::objects_go();
    return 0;
  });
}

void objects_went() {
  if (!names_modules()) return;
  (void)guest_call([] {
    mirror::forget_sites();
    drain::ProcessDrain::objects_went(monotonic_ns());
    return 0;
  });
}

}  // namespace jitquill
