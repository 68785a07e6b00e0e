// An agent that keeps what it is told of events.
//
// Context   tests, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace own_agent {

struct Told {
  std::uint32_t event;
  std::vector<std::uint8_t> payload;  // fields, then text
};

void want(bool events);
// Since the last call.
std::vector<Told> take();

}  // namespace own_agent
