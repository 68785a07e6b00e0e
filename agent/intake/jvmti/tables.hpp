// From stretches of code to what files hold: rows of source lines, and the tree of inlined calls.
//
// Context   [notify], as Methods.
// Promises  rows as the writer wants them: offsets ascend, each row has a file or the load's holds, and a
//           caller's position comes before what is inlined into it.
#pragma once

#include <span>

#include "agent/intake/jvmti/methods.hpp"
#include "agent/intake/jvmti/stretches.hpp"
#include "writer/model/code.hpp"

namespace jitquill::intake::jvmti {

// Each of the method that the code was written in, in its own file. Empty if nothing is known.
std::span<const Line> lines_of(std::span<const Stretch> stretches, Methods& methods,
                               Scratch& scratch) noexcept;

// Empty if nothing was inlined, or if there are more than 8,192 positions.
Inlining inlining_of(std::span<const Stretch> stretches, Methods& methods, Scratch& scratch) noexcept;

}  // namespace jitquill::intake::jvmti
