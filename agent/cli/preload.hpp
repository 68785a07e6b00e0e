// What a program needs in its environment for the agent to be in it.
#pragma once

#include <string>
#include <vector>

namespace jitquill::cli {

// libjitquill-preload.so, beside the command or where it is installed; empty, and said, where there is none
// that LD_PRELOAD can name.
std::string preload_library();

// NAME=value: LD_PRELOAD (the library in front of what is there), JITQUILL_OPTIONS, JITQUILL_RUN_LIST.
std::vector<std::string> agent_environment(const std::string& library, const std::string& options,
                                           const std::string& run_list);

}  // namespace jitquill::cli
