// Announces functions of the pattern, whether there is an agent or not: these hosts run both ways.
//
// Context   host programs.
#pragma once

#include <cstdint>

#include "tests/host/jitdump/code_memory.hpp"

class Jit {
 public:
  static constexpr std::uint32_t kFunctions = 64;

  Jit() : memory_(kFunctions) { jitquill_wants_code(); }  // looks the agent up outside of handlers

  // False: there is an agent, and it did not do it.
  bool announce(std::uint32_t i) {
    const jitquill_status status = pattern::Announcement(i, memory_.at(i % kFunctions)).announce();
    return status == JITQUILL_OK || status == JITQUILL_NO_AGENT;
  }
  // first, first + 1, ... up to `end`, without it.
  bool announce(std::uint32_t first, std::uint32_t end) {
    bool all = true;
    for (std::uint32_t i = first; i < end; ++i) all = announce(i) && all;
    return all;
  }

 private:
  CodeMemory memory_;
};
