// A thread's calls as one line of text: `main(f g!unwound(h))`.
//
// Context   tests.
#pragma once

#include <string>

#include "tests/readers/calls/reader.hpp"

namespace run_files {

inline constexpr unsigned kEachStack = ~0u;

// Callees in brackets, `!how` where it did not return. Of one stack only: outermost there is what has no
// caller on it.
std::string tree(const calls_reader::Thread& thread, unsigned stack = kEachStack);

// The only thread with calls; fails the test if there are none or several.
const calls_reader::Thread& only_thread(const calls_reader::File& file);

// Says where two long lines begin to differ; empty if they are equal.
std::string difference(const std::string& is, const std::string& should_be);

}  // namespace run_files
