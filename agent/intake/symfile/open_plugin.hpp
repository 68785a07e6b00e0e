// Opens libjitquill-symfile.so, which lies beside libjitquill.so, when a JIT is there whose news needs it.
//
// Context   [life], under the intakes' lock, which is given up while the loader works: constructors of the
//           host's libraries run inside the loader, and may jit.
// Promises  opened at most once; a library that is missing, or of another build, is said once in the log.
#pragma once

#include "agent/intake/symfile/plugin.hpp"

namespace jitquill::intake {

// False: another thread is at it, and goes on with what needs the plugin.
bool open_symfile_plugin();
// Null: not opened, or it cannot be.
const symfile::Plugin* symfile_plugin() noexcept;

}  // namespace jitquill::intake
