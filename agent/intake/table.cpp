#include "agent/intake/intake.hpp"

namespace jitquill::intake {

// An intake's functions are declared by its row: nothing else of it is needed here.
#define INTAKE(name, help)                       \
  bool look_for_##name(const ElfObject& object); \
  void start_##name();
#define LATER_INTAKE(name)
#include "agent/intake/intakes.def"
#undef INTAKE
#undef LATER_INTAKE

namespace {

constexpr Row kRows[] = {
#define INTAKE(name, help) {#name, look_for_##name, start_##name, help},
#define LATER_INTAKE(name) {#name, nullptr, nullptr, nullptr},
#include "agent/intake/intakes.def"
#undef INTAKE
#undef LATER_INTAKE
};
static_assert(std::size(kRows) <= 32, "Options::intakes has a bit for each");

}  // namespace

std::span<const Row> rows() noexcept {
  return kRows;
}

}  // namespace jitquill::intake
