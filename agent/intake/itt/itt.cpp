#include "agent/intake/itt/itt.hpp"

#include "agent/base/counters.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/itt/events.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {

// It is called by the runtime: there is nothing to attach to.
bool look_for_itt(const ElfObject&) {
  return false;
}
void start_itt() {}

namespace itt {
namespace {

bool is_wanted() noexcept {
  return (agent().wants().intakes & bit(Id::itt)) != 0 && wants_code();
}

}  // namespace

unsigned initialize() {
  return is_wanted() ? 1 : 0;
}

unsigned notify(unsigned number, const void* of) {
  if (!is_wanted()) return 1;
  if (is_understood(number) && !under_intake_lock([&] { hear(number, of); }))
    count(Counter::itt_reports_broken);
  return 1;
}

}  // namespace itt
}  // namespace jitquill::intake
