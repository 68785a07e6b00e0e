// A program run with the agent in it, from its start to the look at what was recorded: what `run` and `perf`
// share.
#pragma once

#include <string>
#include <vector>

#include "agent/cli/agent_options.hpp"
#include "agent/cli/summary.hpp"

namespace jitquill::cli {

// `words` is what is started, `program` the host among them: the same, or started by perf. Recovers what
// killed processes left.
Summary run_watched(const std::vector<std::string>& words, const std::vector<std::string>& program,
                    const AgentOptions& options, const std::string& library);

// Says that it could not be started; the exit code for that.
int say_not_started(const std::string& program, int error);

// The host's end, but where that is a success that recorded nothing.
HostEnd end_of(const Summary& summary, const AgentOptions& options);

}  // namespace jitquill::cli
