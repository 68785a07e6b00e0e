// Builds the tree of a program from its tokens. The grammar is in docs/nib.md.
//
// Context   any.
// Promises  ends for every input and never recurses deeper than kMaxNesting levels of source nesting. After
//           an error it goes on at the next statement or function, so one run reports several errors; a
//           program that was parsed with errors is only good for finding more of them.
#pragma once

#include "nib/ast.hpp"
#include "nib/source.hpp"

namespace nib {

// Parentheses, prefix operators and blocks inside each other.
inline constexpr int kMaxNesting = 200;

Program parse(const Source& source, Diagnostics& diagnostics);

}  // namespace nib
