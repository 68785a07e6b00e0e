// The objects that the loader has in this process, and whether any came or went since the last look.
//
// Context   [notify], [life]; not under the leaf lock: dl_iterate_phdr() takes the loader's lock, as every
//           exception of the host does.
// Does not  allocate.
#pragma once

#include <link.h>

#include "agent/base/elf_object.hpp"

namespace jitquill {

// Numbers that change whenever an object comes or goes: the price of a call when nothing did.
struct LoaderState {
  unsigned long long added = 0;
  unsigned long long removed = 0;
  bool operator==(const LoaderState&) const = default;
};

inline LoaderState loader_state() noexcept {
  LoaderState state;
  const auto first = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<LoaderState*>(to) = {info->dlpi_adds, info->dlpi_subs};
    return 1;
  };
  dl_iterate_phdr(first, &state);
  return state;
}

// Calls see(object) for each, in the order of loading; what it sees stays mapped until it returns.
template <class See>
void for_each_loaded_object(See see) noexcept {
  const auto each = [](dl_phdr_info* info, std::size_t, void* to) {
    (*static_cast<See*>(to))(ElfObject(*info));
    return 0;
  };
  dl_iterate_phdr(each, &see);
}

}  // namespace jitquill
