// Opens libjitquill-stacks.so, which lies beside libjitquill.so, when call stacks are to be taken.
//
// Context   [life], open_stacks_plugin() with no lock of ours held (base/plugin_library.hpp).
//           stacks_plugin(): any.
// Promises  opened at most once.
#pragma once

#include <string_view>

#include "agent/stacks/plugin.hpp"

namespace jitquill::stacks {

// False: it cannot be used; then `path` says where it was looked for, the first time.
bool open_stacks_plugin(std::string_view& path) noexcept;
// Null: not opened, or it cannot be.
const Plugin* stacks_plugin() noexcept;
// In a child, before it has a drain: from now on there is none if a step was under way (step_lock.hpp).
void drop_plugin_cut_off() noexcept;

}  // namespace jitquill::stacks
