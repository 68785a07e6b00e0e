// The program that is to be run: where it lies, and whether its loader can take our library in.
#pragma once

#include <string>

namespace jitquill::cli {

// As execvp() finds it; empty if it does not.
std::string find_executable(const std::string& command);

// Why nothing can be preloaded into it: linked statically, another word size, more rights than its user.
// Empty if it can, or if that cannot be told. Of a script, what is said is of its interpreter.
std::string trouble_with_preload(const std::string& path);

}  // namespace jitquill::cli
