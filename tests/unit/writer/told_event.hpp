// An event of a runtime, as the functions of events.h pack it.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "writer/model/runtime_event.hpp"

namespace jitquill::tests {

struct Told {
  RuntimeEventKind kind;
  std::vector<std::uint64_t> numbers;
  std::string text = {};
};

inline std::vector<std::uint8_t> packed(const Told& told) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 8, 8, 1};
  const RuntimeEvent event({static_cast<std::uint32_t>(told.kind), {}});
  std::vector<std::uint8_t> payload;
  for (std::size_t i = 0; i < told.numbers.size(); ++i) {
    const auto size = kSizes[static_cast<std::size_t>(event.row()->fields[i].type)];
    for (std::size_t b = 0; b < size; ++b)
      payload.push_back(static_cast<std::uint8_t>(told.numbers[i] >> 8 * b));
  }
  payload.insert(payload.end(), told.text.begin(), told.text.end());
  return payload;
}

}  // namespace jitquill::tests
