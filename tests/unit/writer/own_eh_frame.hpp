// The .eh_frame section that the compiler made of the running test program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jitquill::tests {

struct OwnFunction {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct OwnEhFrame {
  std::span<const std::uint8_t> section;  // up to its terminator
  std::uint64_t load_bias = 0;
  std::vector<OwnFunction> functions;  // those that .eh_frame_hdr lists
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(section.data()); }
};

OwnEhFrame own_eh_frame();

}  // namespace jitquill::tests
