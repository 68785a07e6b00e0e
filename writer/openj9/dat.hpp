// The format data file that a trace is read with: a line for each trace point.
//
// Context   any; puts into the caller's buffer.
// Promises  OpenJ9's formatter takes it: one block for each component, numbers from 0 without a gap.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/openj9/message_template.hpp"

namespace jitquill::openj9 {

// The first line. A component's lines follow each other, by number.
void put_dat_version(Bytes& out) noexcept;
// `text` is one that parse_template() takes, `symbol` a word.
void put_dat_line(std::string_view component, std::uint32_t number, PointType type, std::uint8_t level,
                  std::string_view symbol, std::string_view text, Bytes& out) noexcept;

// All of ours, and those of the trace itself (dg).
void put_dat(Bytes& out) noexcept;

}  // namespace jitquill::openj9
