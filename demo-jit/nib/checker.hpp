// Resolves the names of a program, gives every expression its type, and finds where control ends.
//
// Context   any.
// Promises  after a run that added no diagnostic, every field of the tree marked "checker" is right, and the
//           program keeps all rules of docs/nib.md that can be known before it runs. Functions may be used
//           before they are defined. One mistake is reported once: what depends on it is not.
#pragma once

#include "nib/ast.hpp"
#include "nib/source.hpp"

namespace nib {

void check(Program& program, Diagnostics& diagnostics);

}  // namespace nib
