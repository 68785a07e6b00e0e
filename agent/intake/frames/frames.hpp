// What JITs register for exceptions (`__register_frame`): where functions begin and end, and how to unwind
// them, but no names. Kept by address for the loads that other intakes tell.
//
// Context   [notify], not under the leaf lock: the registering thread, after the host's own engine was told.
//           Runtimes' locks may be held.
// Promises  what is registered is read without faults, at most 64 MiB of it, and nothing in it is trusted.
//           Code that nobody names within 100 ms, or until it ends, is announced at the next looks, or when
//           it ends, under a name that is made up (stopgap.hpp), in the process that registered it.
#pragma once

#include <cstdint>

#include "agent/intake/budget.hpp"
#include "agent/intake/frames/section_copy.hpp"
#include "writer/model/code.hpp"

namespace jitquill::frames {

// `section` begins with a CIE (libgcc's way: up to a word of zeroes), or is one FDE (LLVM's libunwind's way).
void came(const void* section);
void went(const void* section);

bool knows_any() noexcept;

// Announces those that have waited for their name. Under the intakes' lock.
void tell_those_that_waited(intake::Budget budget);

// Gives a load its unwinding, if it has none and somebody registered it, as long as this lives.
// Under the intakes' lock.
class KnownUnwinding {
 public:
  explicit KnownUnwinding(CodeLoad& load) noexcept;

 private:
  SectionCopy section_;
};

}  // namespace jitquill::frames
