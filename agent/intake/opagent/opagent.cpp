#include "agent/intake/opagent/opagent.hpp"

#include "agent/base/counters.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/opagent/listener.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {

// It is called by the program: there is nothing to attach to.
bool look_for_opagent(const ElfObject&) {
  return false;
}
void start_opagent() {}

namespace opagent {
namespace {

bool is_wanted() noexcept {
  return (agent().wants().intakes & bit(Id::opagent)) != 0 && wants_code();
}

template <class Hear>
void hear(Hear hear) {
  if (is_wanted() && !under_intake_lock([&] { hear(listener()); })) count(Counter::opagent_calls_broken);
}

}  // namespace

void code(const char* name, std::uint64_t address, const void* bytes, std::uint32_t size) {
  hear([&](Listener& listener) { listener.code(name, address, bytes, size); });
}

void lines(const void* bytes, std::size_t count, const void* rows) {
  hear([&](Listener& listener) { listener.lines(bytes, count, rows); });
}

void unload(std::uint64_t address) {
  hear([&](Listener& listener) { listener.unload(address); });
}

}  // namespace opagent
}  // namespace jitquill::intake
