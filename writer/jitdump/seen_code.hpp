// Which code bytes a file has had already, by a hash of a part of them.
//
// Equal code always meets; different code may, too, which costs eight bytes of salt and nothing else. So only
// the size and both ends are hashed: most functions differ there.
//
// Context   one thread at a time. 16 bytes a function at most.
// Promises  never throws. Without memory it forgets, and equal code goes unnoticed.
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

  // Whether the same bytes may have been here before; they have been from now on.
  bool meets(std::span<const std::uint8_t> code) noexcept;

 private:
  bool grow() noexcept;

  std::uint64_t* slots_ = nullptr;  // open addressing, 0 = free
  std::size_t capacity_ = 0;        // a power of two
  std::size_t used_ = 0;
};

}  // namespace jitquill::jitdump
