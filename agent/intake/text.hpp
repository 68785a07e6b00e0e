// A text of somebody else's, copied into the intakes' memory.
//
// Context   [notify], under the intakes' lock.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "agent/base/safe_text.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::intake {

// NUL-terminated; empty if there is none.
struct Text {
  Block block;
  std::size_t size = 0;

  const char* c_str() noexcept { return block ? reinterpret_cast<const char*>(block.data()) : nullptr; }
  std::string_view view() noexcept { return {c_str(), block ? size : 0}; }
};

// A copy of `from`, `most` bytes of it at most; an empty one if it is null. Nothing: it cannot be
// read, or there is no memory.
inline std::optional<Text> copied_text(const char* from, std::size_t most) noexcept {
  if (from == nullptr) return Text{};
  Block room(most + 1);
  if (!room) return std::nullopt;
  const auto size = safe_text(from, {reinterpret_cast<char*>(room.data()), most + 1});
  if (!size) return std::nullopt;
  Text text{Block(*size + 1), *size};
  if (!text.block) return std::nullopt;
  std::memcpy(text.block.data(), room.data(), *size + 1);
  return text;
}

}  // namespace jitquill::intake
