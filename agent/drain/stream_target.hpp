// Where a format goes that is not to be a file: what <format>.to= says.
//
// Context   [life]; plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/base/fixed_text.hpp"
#include "writer/bytes/own_descriptor.hpp"

namespace jitquill {

struct StreamTarget {
  enum class Kind : std::uint8_t { kFile, kDescriptor, kFifo, kSocket };
  static constexpr std::size_t kMostPath = 108;  // of a Unix socket's address

  // file, fd:N, fifo:PATH or unix:PATH. Null, or why it is none. What N stands for now is noted: the program
  // may close it, and use the number again.
  const char* set(std::string_view value) noexcept;

  Kind kind = Kind::kFile;
  int descriptor = -1;
  std::uint32_t pid = 0;      // whose descriptor it is: a child's outputs are its own
  FileIdentity identity;      // of the descriptor
  FixedText<kMostPath> path;  // may hold the words of dir_template.hpp
  std::uint32_t format = 0;   // bit of the row of sinks.def that goes there
};

}  // namespace jitquill
