// Memory for what is put together for one event, gone when the event has been told: neither the host's
// allocator, which a caller may be inside of, nor the arena, which needs the leaf lock.
//
// One block of kBlock bytes is kept for the next event: to map, touch and unmap it anew was two fifths of our
// share in an event, most of it for telling the other CPUs.
//
// Context   [notify]; raw system calls only.
// Promises  take() gives zeroed memory, or null when the bound is reached or the process has no more.
#pragma once

#include <cstddef>
#include <span>

namespace jitquill::intake::jvmti {

class Scratch {
 public:
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  Scratch() noexcept = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* take(std::size_t size) noexcept;

  // `count` values of T; empty if there is no memory.
  template <class T>
  std::span<T> take_array(std::size_t count) noexcept {
    if (count > kMost / sizeof(T)) return {};
    void* const memory = take(count * sizeof(T));
    return memory == nullptr ? std::span<T>{} : std::span<T>(static_cast<T*>(memory), count);
  }

 private:
  struct Block;
  static constexpr std::size_t kBlock = std::size_t{256} << 10;

  bool add_block(std::size_t size) noexcept;
  void* memory_for(std::size_t size) noexcept;
  void give_back(Block* block, std::size_t used) noexcept;

  Block* blocks_ = nullptr;  // the newest first
  std::size_t mapped_ = 0;
  unsigned char* next_ = nullptr;
  unsigned char* end_ = nullptr;
};

}  // namespace jitquill::intake::jvmti
