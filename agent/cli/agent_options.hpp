// The options of a run, put together and judged by the agent's own code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cli/arguments.hpp"
#include "agent/life/options.hpp"

namespace jitquill::cli {

struct AgentOptions {
  std::string text;  // for JITQUILL_OPTIONS: those of the environment, then ours, which win
  Options read;
};

// Nothing, and all was said, where one is unknown, out of range or not built yet.
std::optional<AgentOptions> agent_options(const std::vector<AgentOption>& given);

// Whether some option of `text` is called `key`.
bool names_option(std::string_view text, std::string_view key);

}  // namespace jitquill::cli
