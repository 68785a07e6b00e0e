// Whether a file may have had the same code bytes already: two bits of a hash, not the hash itself, and both
// in one word. That is mostly in no cache, so it is asked for first and looked at when it has come.
//
// Equal code always meets. Different code may meet too, one function in 30 at 100,000 functions: that costs
// eight bytes of salt and nothing else. So only the size and both ends are hashed, and 128 KiB serve for
// ever.
//
// Context   one thread at a time.
// Promises  never throws. Without memory equal code goes unnoticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill::jitdump {

class SeenCode {
 public:
  SeenCode() noexcept = default;
  ~SeenCode();
  SeenCode(const SeenCode&) = delete;
  SeenCode& operator=(const SeenCode&) = delete;

  // Where code leaves its trace. Valid as long as the SeenCode.
  class Trace {
    friend SeenCode;
    std::uint64_t* word = nullptr;
    std::uint64_t bits = 0;
  };

  // Asks for the memory in which meets() will look.
  Trace trace_of(std::span<const std::uint8_t> code) noexcept;
  // Whether the same bytes may have been here before; they have been from now on.
  static bool meets(const Trace& trace) noexcept;

 private:
  std::uint64_t* words_ = nullptr;  // made by the first function
};

}  // namespace jitquill::jitdump
