#include "agent/intake/lookout.hpp"

#include <cstdint>

#include "agent/base/loaded_objects.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {
namespace {

constinit LoaderState g_seen{};  // under the intakes' lock

void look_at_all(LoaderState state, std::uint32_t wanted) {
  const auto all = rows();
  std::uint32_t found = 0;
  for_each_loaded_object([&](const ElfObject& object) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((wanted >> i & 1) != 0 && all[i].look(object)) found |= 1u << i;
    }
  });
  g_seen = state;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((found >> i & 1) != 0) all[i].start();
  }
}

}  // namespace

void look_around() {
  const std::uint32_t wanted = agent().wanted_intakes();
  if (wanted == 0 || !agent().wants_code()) return;
  const LoaderState state = loader_state();
  // Not waited for: who is called from inside dlopen() holds the loader's lock, for which somebody may wait
  // who holds ours. Whoever holds it looks, or the next call does.
  (void)under_intake_lock(
      [&] {
        if (!(state == g_seen)) look_at_all(state, wanted);
      },
      0);
}

}  // namespace jitquill::intake
