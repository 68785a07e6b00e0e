// Records of a ring of perf events, as they were asked for (event.hpp).
//
// Source    perf_event_open(2), "MMAP layout": header, then the fields of sample_type in its order.
// Context   any; plain values.
// Promises  nothing in a record is trusted: what is shorter than its fields is kOther.
#pragma once

#include <cstdint>
#include <span>

#include "agent/stacks/plugin.hpp"

namespace jitquill::sampler {

enum class RecordKind : std::uint8_t { kSample, kLost, kThread, kOther };

struct Record {
  RecordKind kind = RecordKind::kOther;
  bool is_kernel = false;      // of a sample: `ip` is the kernel's
  bool has_registers = false;  // those of the program, where it left for the kernel if it did
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;  // of kThread: of the thread that began
  std::uint32_t tid = 0;
  std::uint64_t when_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t ip = 0;
  std::uint64_t event = 0;  // of a sample: the id of the event that it is of, or that this was inherited from
  std::uint64_t lost = 0;   // of kLost: records that found no room
  stacks::Registers registers{};
  std::span<const std::uint8_t> stack;  // from the stack pointer on
};

// Of its size, header included; `bytes` has all of it.
Record read_record(std::span<const std::uint8_t> bytes, bool has_stack) noexcept;

}  // namespace jitquill::sampler
