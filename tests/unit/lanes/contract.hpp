// Whether code leaves registers as they were.
//
// Context   tests.
#pragma once

#include <cstdint>

namespace lanes_test {

// Calls the function at both alignments of the stack; names what did not stay. All general registers but r10
// and r11, x87, vector and mask registers in their whole width, MXCSR.
void expect_kept(const std::uint8_t* function);

}  // namespace lanes_test
