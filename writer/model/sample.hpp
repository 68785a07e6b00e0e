// What a sampler saw, as every sink that shows samples is handed it (RunSink::samples).
//
// Context   any; plain values.
// Promises  functions are defined (RunSink::define) before a sample names them. A sample has one frame at
//           least: where no code is known stands a function that says so. All samples count alike: each
//           stands for the same time, or the same number of cycles.
// Does not  own anything: the spans live as long as the call that hands them on.
#pragma once

#include <cstdint>
#include <span>

#include "writer/model/run.hpp"

namespace jitquill {

struct SampleFrame {
  std::uint64_t
      address;  // the innermost: what was to run next; of a caller: inside the instruction that called
  std::uint64_t offset;  // of `address` from where its function began then; 0 = unknown
  FunctionNumber function;
};

struct SampleView {
  std::uint64_t when_ns;  // CLOCK_MONOTONIC, the same as in all outputs
  std::uint64_t ip;       // where the CPU was: in the kernel, if is_kernel
  std::uint32_t pid;
  std::uint32_t tid;  // the kernel's; may be reused by a later thread
  bool is_kernel;     // on behalf of the frame that is innermost
  bool is_partial;  // frames may be missing: not all of the stack could be walked, or one was left by a guess
  std::span<const SampleFrame> frames;  // of the program, the innermost first
  bool has_end = true;                  // the outermost frame is there; else the stack was cut before it
};

// Consecutive samples of one CPU; ascending in time. CPUs' batches come in any order.
struct SampleBatch {
  std::uint32_t cpu;
  std::uint64_t lost;  // so many are missing between the batch before of this CPU and the first of this one
  std::span<const SampleView> samples;  // empty: losses at the end
};

}  // namespace jitquill
