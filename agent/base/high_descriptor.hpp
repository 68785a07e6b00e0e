// Descriptors where a host does not look: it counts on low numbers, and what it prints goes to the first
// three.
//
// Context   [life] and under the leaf lock; raw system calls only.
#pragma once

namespace jitquill {

// Gives an open descriptor a high number and close-on-exec. The new number, or the old one where none is free
// up there; -errno, and the descriptor is closed, if it would have to stay a standard one.
int moved_high(int descriptor) noexcept;

}  // namespace jitquill
