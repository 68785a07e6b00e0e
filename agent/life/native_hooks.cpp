#include "agent/life/native_hooks.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "agent/base/loaded_objects.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/life/agent.hpp"

#define NATIVE_HOOK(name, number, hook) extern "C" [[gnu::visibility("hidden")]] void hook();
#include "agent/life/native_hooks.def"
#undef NATIVE_HOOK
extern "C" [[gnu::visibility("hidden")]] void jitquill_native_nothing();

namespace jitquill {
namespace {

struct Row {
  const char* name;
  void (*hook)();
};
constexpr Row kRows[] = {
#define NATIVE_HOOK(name, number, hook) {#name, &hook},
#include "agent/life/native_hooks.def"
#undef NATIVE_HOOK
};

const void* address_of(void (*function)()) noexcept {
  return reinterpret_cast<const void*>(function);
}

// What the objects of this process are like.
struct Callers {
  bool any = false;
  mirror::Surroundings surroundings;
};

Callers look_for_callers() noexcept {
  Callers callers;
  bool has_engine = false;
  for_each_loaded_object([&](const ElfObject& object) {
    for (const Row& row : kRows) callers.any |= object.needs(row.name);
    callers.surroundings.has_exit_sites |= object.needs("__return__");
    if (has_engine || object.find("_Unwind_RaiseException") == 0) return;
    has_engine = true;  // the first in the order of loading is the one that is called
    callers.surroundings.has_nongnu_unwinder = object.find("unw_backtrace") != 0;
  });
  return callers;
}

}  // namespace

void native_names_shown(std::atomic<const void*>* targets, std::uint32_t count) {
  const Callers callers = look_for_callers();
  (void)with_agent(
      [&](Agent& agent) {
        mirror::start(callers.surroundings);
        return agent.add_native_names(targets, count, callers.any);
      },
      [](Agent&) { return Status::kBusy; });
}

void NativeHooks::add(std::atomic<const void*>* targets, std::uint32_t count, bool have_callers) noexcept {
  have_callers_ |= have_callers;
  if (count_ == kMost) return;
  static_assert(std::size(kRows) <= kMostNames);
  Names& names = names_[count_++];
  names = {targets, std::min<std::uint32_t>(count, std::size(kRows)), {}};
  for (std::uint32_t row = 0; row < names.count; ++row) names.without_us[row] = targets[row].load();
}

void NativeHooks::turn(bool on) noexcept {
  for (const Names& names : std::span(names_, count_)) {
    for (std::uint32_t row = 0; row < names.count; ++row) {
      const void* const off = names.without_us[row];
      const void* const nobody = address_of(&jitquill_native_nothing);
      const void* const target = on ? address_of(kRows[row].hook) : off != nullptr ? off : nobody;
      names.targets[row].store(target, std::memory_order_release);
    }
  }
}

}  // namespace jitquill
