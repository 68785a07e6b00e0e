// What an intake is: a row of intakes.def. It finds a JIT in the process, learns of its code in whichever way
// that JIT offers, and hands it on by told.hpp. Nothing of it runs in a process that has no such JIT.
//
// Context   look(): inside dl_iterate_phdr(), under the intakes' lock (lookout.hpp): it reads the object and
//           takes notes, and may neither allocate from the host nor call the loader. start(): right after
//           that, with no lock of the loader held: it may open plugins and call the runtime. Neither holds
//           the leaf lock.
// Promises  (of an intake) broken or hostile structures of the runtime cost a counter, never the host.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/base/elf_object.hpp"

namespace jitquill::intake {

struct Row {
  std::string_view name;  // in intakes=
  // True if the object offers what start() should attach to. Called for every object whenever one came or
  // went: an intake remembers by itself what it has attached to already.
  bool (*look)(const ElfObject& object);
  void (*start)();
  const char* help;  // null: known name, not built yet
};

std::span<const Row> rows() noexcept;

// A row's number, and its bit in Wants::intakes.
enum class Id : std::uint32_t {
#define INTAKE(name, help) name,
#define LATER_INTAKE(name) name,
#include "agent/intake/intakes.def"
#undef INTAKE
#undef LATER_INTAKE
};
constexpr std::uint32_t bit(Id id) noexcept {
  return 1u << static_cast<std::uint32_t>(id);
}

}  // namespace jitquill::intake
