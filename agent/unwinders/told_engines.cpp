#include "agent/unwinders/told_engines.hpp"

#include "agent/base/counters.hpp"

namespace jitquill::unwinders {

void ToldEngines::look_around(const SectionIndex& sections) noexcept {
  const LoaderState state = loader_state();
  if (state == loader_) return;
  const bool any_removed = state.removed != loader_.removed;
  loader_ = state;
  const HostUnwinders found = find_host_unwinders();
  // A new copy can lie where the old one lay.
  if (!found.engine.is_same(engine_) || (any_removed && !knows(sections)))
    adopt_engine(found.engine, sections);
  if (!records_.is_same(found.libunwind) || (any_removed && !records_.is_known()))
    adopt_libunwind(found.libunwind, sections);
  else
    records_.set(found.libunwind);  // its second cache may have come
}

bool ToldEngines::knows(const SectionIndex& sections) const noexcept {
  if (engine_.find_entry == nullptr || sections.size() == 0) return true;
  Section& section = sections[0];
  const Function& function = section.functions()[0];
  void* bases[4];
  return engine_.find_entry(reinterpret_cast<const void*>(function.address), bases) != nullptr;
}

void ToldEngines::adopt_engine(const ExceptionEngine& engine, const SectionIndex& sections) noexcept {
  engine_ = engine;
  if (engine_.style == Style::kSections) engine_.style = ask_style(engine_);
  for (Section* section : sections) {
    section->forget_engine();
    if (engine_.style == Style::kSections && !register_section(*section))
      count(Counter::registrations_refused, section->functions().size());
    tell(*section);
  }
}

void ToldEngines::adopt_libunwind(const NongnuLibunwind& libunwind, const SectionIndex& sections) noexcept {
  records_.forget();
  records_.set(libunwind);
  for (Section* section : sections) {
    section->record = nullptr;
    if (!records_.publish(*section)) count(Counter::registrations_refused, section->functions().size());
  }
}

// Both copies are alike but for the change that the idle one has.
bool ToldEngines::register_section(Section& section) noexcept {
  void* const object = objects_.take();
  if (object == nullptr) return false;
  engine_.register_section(section.idle(), object);
  take_back(section);
  section.swap();
  section.object = object;
  return true;
}

void ToldEngines::take_back(Section& section) noexcept {
  if (section.object == nullptr) return;
  (void)engine_.deregister_section(section.registered());
  objects_.give_back(section.object);
  section.object = nullptr;
}

void ToldEngines::tell(Section& section) noexcept {
  if (engine_.style != Style::kFunctions && engine_.style != Style::kEntries) return;
  for (Function& function : section.functions()) {
    if (function.told_with != nullptr) continue;
    function.told_with =
        engine_.style == Style::kFunctions ? section.alone(function) : section.entry_of(function);
    engine_.register_frame(function.told_with);
  }
}

bool ToldEngines::publish(Section& section) noexcept {
  section.finish_idle();
  const bool is_registered = engine_.style != Style::kSections || register_section(section);
  section.repeat_change();
  tell(section);
  return is_registered && records_.publish(section);
}

void ToldEngines::withdraw(Section& section) noexcept {
  take_back(section);
  records_.withdraw(section);
}

// These engines look for the range that they were told of, so it must not have changed yet.
void ToldEngines::untell(Function& function) noexcept {
  if (function.told_with != nullptr) engine_.deregister_frame(function.told_with);
  function.told_with = nullptr;
}

void ToldEngines::forget() noexcept {
  *this = ToldEngines{};
}

}  // namespace jitquill::unwinders
