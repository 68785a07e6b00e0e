// What each unwinder of the host has been told of our sections: the one place that calls them.
//
// Context   under the lock of registry.hpp, the leaf lock not held.
// Promises  what an unwinder knows is registered anew before the old form is taken back, so a throw of
//           another thread finds every live function at every moment. An unwinder that is loaded late is told
//           of all at the next news.
#pragma once

#include "agent/base/loaded_objects.hpp"
#include "agent/unwinders/host_unwinders.hpp"
#include "agent/unwinders/object_pool.hpp"
#include "agent/unwinders/records.hpp"
#include "agent/unwinders/section_index.hpp"

namespace jitquill::unwinders {

class ToldEngines {
 public:
  // Notices unwinders that came or went. Cheap when no object did.
  void look_around(const SectionIndex& sections) noexcept;
  bool is_any_there() const noexcept { return engine_.style != Style::kNone || records_.is_there(); }

  // The section's change, begun and made, is shown to all. False: no memory; then the section must
  // be withdrawn.
  bool publish(Section& section) noexcept;
  // The section's start has changed.
  bool rebase(Section& section) noexcept { return records_.replace(section); }
  void withdraw(Section& section) noexcept;
  // Directly before Section::remove(), and after it.
  void untell(Function& function) noexcept;
  void removed() const noexcept { records_.flush(); }

  // In a child whose parent was in the middle of a change.
  void forget() noexcept;

 private:
  void adopt_engine(const ExceptionEngine& engine, const SectionIndex& sections) noexcept;
  void adopt_libunwind(const NongnuLibunwind& libunwind, const SectionIndex& sections) noexcept;
  bool knows(const SectionIndex& sections) const noexcept;
  bool register_section(Section& section) noexcept;
  void take_back(Section& section) noexcept;
  void tell(Section& section) noexcept;

  LoaderState loader_{};
  ExceptionEngine engine_{};
  ObjectPool objects_;
  Records records_;
};

}  // namespace jitquill::unwinders
