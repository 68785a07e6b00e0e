// What a run recorded, for people (stderr) and for programs (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/cli/agent_options.hpp"
#include "agent/cli/host.hpp"
#include "agent/cli/process_output.hpp"

namespace jitquill::cli {

struct Summary {
  std::vector<std::string> command;
  HostEnd end;
  std::vector<ProcessOutput> processes;
  std::vector<std::string> missing;  // why there is less than one might expect, with the cure
  std::vector<std::string> next;     // what to do with it, as commands

  std::uint64_t functions() const;
  std::uint64_t calls() const;
  std::uint64_t events() const;
  std::uint64_t samples() const;
  std::uint64_t bytes() const;
  bool has_recorded() const { return functions() != 0 || calls() != 0 || events() != 0 || samples() != 0; }
};

// Fills in `missing`. `program`: what was run, as it was found.
void say_what_is_missing(Summary& summary, const AgentOptions& options, const std::string& program);

std::string text_of(const Summary& summary);
std::string json_of(const Summary& summary);

// As --json and -q say. False, and said: a file could not be written.
bool publish(const Summary& summary, const RunArguments& arguments);

}  // namespace jitquill::cli
