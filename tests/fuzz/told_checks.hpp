// Whether code news from an intake is what sinks rely on (writer/model/code.hpp). Every text is read to its
// end, and every span whole, so that a sanitizer sees what is not there.
//
// Context   fuzzers.
#pragma once

#include "writer/model/code.hpp"

namespace fuzz {

// Breaks off where it is not.
void check(const jitquill::CodeLoad& load);

}  // namespace fuzz
