// What the kernel allows samplers, in words: which limit stood in the way, what it is, and what raises it.
//
// Context   [drain]; raw system calls, small files of /proc are read.
#pragma once

#include <cstdint>

#include "agent/base/text_line.hpp"
#include "agent/sampler/event.hpp"

namespace jitquill::sampler {

// Which call was refused, and how.
struct Refusal {
  enum class Call : std::uint8_t { kNone, kOpen, kMap, kRedirect, kKeep } call = Call::kNone;
  int error = 0;  // -errno

  explicit operator bool() const noexcept { return call != Call::kNone; }
};

void put_cause(const Refusal& refusal, const Wish& wish, Message& line) noexcept;
// That samples in the kernel are not seen.
void put_blindness(Message& line) noexcept;

}  // namespace jitquill::sampler
