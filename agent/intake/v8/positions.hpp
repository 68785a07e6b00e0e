// Positions of code that V8 told, kept until it tells whose code they are of.
//
// V8 tells positions in one go, start, each, end, and the function's name and script right after, all on one
// thread. (Of which isolate, V8 10 does not say.) Isolates have threads of their own and do so at the same
// time, so there is a recording for each thread that is in between.
//
// Context   [notify]; any number of threads, no lock: a recording is one thread's from begin() to end(), and
//           from take() to give_back().
// Promises  a bounded amount of memory, whatever is told in whichever order. A recording whose function never
//           comes (V8 threw the code away) is used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/pages.hpp"

namespace jitquill::intake::v8 {

struct Position {
  std::uint32_t offset;
  std::uint32_t position;
};

class Positions {
 public:
  static constexpr std::size_t kMostPositions = std::size_t{1} << 20;

  struct Recording {
    // | thread 32 | state 32 |, in one word: only a thread itself makes words with its number, so what it
    // sees under its own is its own.
    std::atomic<std::uint64_t> owner{0};
    std::atomic<std::uint64_t> code{0};
    Pages<Position> positions;
    bool is_cut = false;  // there was no room for some
  };

  // What V8 is to hand back with each position, a number; null = all recordings are in use.
  void* begin(std::uint32_t thread) noexcept;
  // `handle` comes back through V8, so it is perhaps not ours: then nothing is done.
  void add(void* handle, std::uint32_t thread, std::uint64_t offset, std::uint64_t position) noexcept;
  void end(void* handle, std::uint32_t thread, std::uint64_t code) noexcept;

  // What was told of the code at this address; null = nothing.
  Recording* take(std::uint32_t thread, std::uint64_t code) noexcept;
  static void give_back(Recording* recording) noexcept;  // null is allowed

 private:
  static constexpr std::size_t kRecordings = 32;
  enum State : std::uint32_t { kFree, kOpen, kEnded, kTaken };
  static constexpr std::uint64_t word(std::uint32_t thread, State state) noexcept {
    return std::uint64_t{thread} << 32 | state;
  }

  Recording* open_one_of(std::uint32_t thread, void* handle) noexcept;
  void drop_left_ones(std::uint32_t thread) noexcept;
  Recording* claim(State from, std::uint32_t thread) noexcept;

  Recording recordings_[kRecordings];
};

}  // namespace jitquill::intake::v8
