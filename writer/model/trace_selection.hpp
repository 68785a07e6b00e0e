// Which trace points are written: up to a level, by the names of components.
//
//     jqm:5,jq:3
//     *:9,jqm:0
//
// `*` stands for any text. Of all that fit a component the last counts; one that none fits is off.
//
// Context   any; plain value.
// Promises  a text that is refused leaves what was there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitquill {

class TraceSelection {
 public:
  static constexpr std::size_t kMost = 8;       // of its parts
  static constexpr std::size_t kMostName = 32;  // bytes
  static constexpr int kOff = -1;
  static constexpr int kMostLevel = 9;

  // Null, or why the text does not do.
  const char* set(std::string_view text) noexcept;
  // Points of the component up to it; kOff: none.
  int level_of(std::string_view component) const noexcept;

 private:
  struct Part {
    std::array<char, kMostName> name{};
    std::uint8_t size = 0;
    std::uint8_t level = 0;
    std::string_view pattern() const noexcept { return {name.data(), size}; }
  };
  std::array<Part, kMost> parts_{Part{{'*'}, 1, kMostLevel}};
  std::size_t count_ = 1;
};

}  // namespace jitquill
