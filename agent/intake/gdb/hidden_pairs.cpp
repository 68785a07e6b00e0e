#include "agent/intake/gdb/hidden_pairs.hpp"

#include <cstring>

#include "agent/intake/file_symbols.hpp"
#include "agent/intake/gdb/jit_interface.hpp"
#include "agent/lanes/code_map.hpp"

namespace jitquill::gdb {
namespace {

// Ours has a descriptor, too, for gdb: not for us.
bool is_ours(const ElfObject& object) noexcept {
  return object.contains(reinterpret_cast<std::uintptr_t>(&is_ours));
}

HiddenPair find_pair(const ElfObject& object) noexcept {
  if (is_ours(object)) return {};
  intake::FileSymbol symbols[] = {{kDescriptor}, {kFunction}};
  if (!intake::find_in_file(object, symbols)) return {};
  return {symbols[1].address, symbols[0].address};
}

}  // namespace

HiddenPair HiddenPairs::of(const ElfObject& object) noexcept {
  const auto* const name = reinterpret_cast<const std::uint8_t*>(object.path());
  const std::uint64_t path = hash_of({name, std::strlen(object.path())});
  for (const Known& known : known_.all()) {
    if (known.base == object.base() && known.path == path) return known.pair;
  }
  const HiddenPair pair = find_pair(object);
  (void)known_.push({object.base(), path, pair});  // without memory it is read again
  return pair;
}

}  // namespace jitquill::gdb
