#include "agent/intake/gdb/gdb.hpp"

#include <array>
#include <utility>

#include "agent/base/counters.hpp"
#include "agent/base/elf_object.hpp"
#include "agent/intake/gdb/entry_patch.hpp"
#include "agent/intake/gdb/hidden_pairs.hpp"
#include "agent/intake/gdb/jit_interface.hpp"
#include "agent/intake/gdb/pairs.hpp"
#include "agent/intake/gdb/registered.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/intake/symfile/open_plugin.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::gdb {
namespace {

// Under the intakes' lock.
constinit Pairs g_pairs;
constinit HiddenPairs g_hidden;
constinit Registered g_registered;
constinit bool g_is_followed = false;

// What a host's call of its own function comes to. Its descriptor says what it is about.
void called(std::size_t which) {
  if (!intake::wants_code()) return;
  (void)intake::under_intake_lock([&] {
    const Pair& pair = g_pairs.all()[which];
    const auto descriptor = read_from_host<JitDescriptor>(pair.descriptor);
    if (!descriptor || descriptor->version != 1 || descriptor->relevant == 0) return;
    const bool is_left = intake::is_left_to_own_dump();
    if (descriptor->action == kRegister && is_left) count(Counter::symfiles_left);
    if (descriptor->action == kRegister && !is_left) g_registered.came(pair, descriptor->relevant);
    if (descriptor->action == kUnregister) g_registered.went(pair, descriptor->relevant);
  });
}

template <std::size_t kWhich>
void trampoline() {
  called(kWhich);
}

template <std::size_t... kAll>
constexpr std::array<void (*)(), Pairs::kMost> trampolines(std::index_sequence<kAll...>) noexcept {
  return {&trampoline<kAll>...};
}
constexpr auto kTrampolines = trampolines(std::make_index_sequence<Pairs::kMost>{});

// The calls reach us before the list is read, so that nothing falls in between.
void attach(std::size_t which) {
  Pair& pair = g_pairs.all()[which];
  const symfile::Plugin* const plugin = intake::symfile_plugin();
  pair.is_attached = true;
  pair.is_patched = plugin != nullptr && patch_entry(pair.function, kTrampolines[which], *plugin);
  count(pair.is_patched ? Counter::jit_interfaces_watched : Counter::jit_interfaces_walked);
  if (!intake::is_left_to_own_dump()) g_registered.walk(pair);
}

template <class Read>
void for_each_unpatched(Read read) {
  if (intake::is_left_to_own_dump()) return;
  for (const Pair& pair : g_pairs.all()) {
    if (pair.is_attached && !pair.is_patched) read(pair);
  }
}

void look_at_unpatched() {
  for_each_unpatched([](const Pair& pair) { g_registered.look(pair); });
}

void look_for_the_last_time() {
  for_each_unpatched([](const Pair& pair) { g_registered.walk(pair); });
  g_registered.tell_waiting();
}

}  // namespace

bool anything_waits() noexcept {
  return g_registered.waiting() != 0;
}

void became_final(std::uint64_t address, std::uint64_t size) {
  g_registered.became_final(address, size);
}

}  // namespace jitquill::gdb

namespace jitquill::intake {

bool look_for_gdb(const ElfObject& object) {
  const std::uintptr_t function = object.find(gdb::kFunction);
  const std::uintptr_t descriptor = object.find(gdb::kDescriptor);
  if (function != 0 && descriptor != 0) return gdb::g_pairs.note(function, descriptor);
  const gdb::HiddenPair hidden = makes_code() ? gdb::g_hidden.of(object) : gdb::HiddenPair{};
  return hidden.function != 0 && gdb::g_pairs.note(hidden.function, hidden.descriptor);
}

void start_gdb() {
  if (!open_symfile_plugin()) return;
  if (!gdb::g_is_followed) follow({gdb::look_at_unpatched, gdb::look_for_the_last_time});
  gdb::g_is_followed = true;
  for (std::size_t i = 0; i < gdb::g_pairs.all().size(); ++i) {
    if (!gdb::g_pairs.all()[i].is_attached) gdb::attach(i);
  }
}

}  // namespace jitquill::intake
