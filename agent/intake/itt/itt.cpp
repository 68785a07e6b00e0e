#include "agent/intake/itt/itt.hpp"

#include <cstring>
#include <iterator>

#include "agent/base/counters.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/itt/listener.hpp"
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

struct Event {
  unsigned number;
  void (Listener::*handle)(const Raw& raw);
  Layout layout;
};

constexpr Event kEvents[] = {
#define ITT_EVENT(number, handler, size, parent_at, class_at, file_at) \
  {number, &Listener::handler, {size, parent_at, class_at, file_at}},
#include "agent/intake/itt/events.def"
#undef ITT_EVENT
};

bool is_wanted() noexcept {
  return (agent().wanted_intakes() & bit(Id::itt)) != 0 && wants_code();
}

void hear(const Event& event, const void* of) {
  Raw raw;
  if (!raw.read(of, event.layout)) {
    count(Counter::itt_reports_broken);
    return;
  }
  (listener().*event.handle)(raw);
}

}  // namespace

unsigned initialize() {
  return is_wanted() ? 1 : 0;
}

unsigned notify(unsigned number, const void* of) {
  if (!is_wanted()) return 1;
  for (const Event& event : kEvents) {
    if (event.number != number) continue;
    if (!under_intake_lock([&] { hear(event, of); })) count(Counter::itt_reports_broken);
  }
  return 1;
}

}  // namespace itt
}  // namespace jitquill::intake
