// What the command does: one function per verb, each gives the exit code.
#pragma once

#include "agent/cli/arguments.hpp"

namespace jitquill::cli {

int do_verb(const RunArguments& arguments);
int do_verb(const PerfArguments& arguments);
int do_verb(const RecoverArguments& arguments);
int do_verb(const ShowArguments& arguments);
int do_verb(const CheckArguments& arguments);
int do_verb(const ConvertArguments& arguments);

}  // namespace jitquill::cli
