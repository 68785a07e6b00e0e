// Bytes that end right in front of a page which cannot be read: a read beyond them ends the test program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>

namespace jitquill::tests {

class GuardedCopy {
 public:
  explicit GuardedCopy(std::span<const std::uint8_t> bytes) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (size_ + page - 1) / page * page;
    mapped_ = readable + page;
    void* const map = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<std::uint8_t*>(map);
    mprotect(map_ + readable, page, PROT_NONE);
    bytes_ = map_ + readable - size_;
    std::ranges::copy(bytes, bytes_);
  }
  ~GuardedCopy() { munmap(map_, mapped_); }
  GuardedCopy(const GuardedCopy&) = delete;
  GuardedCopy& operator=(const GuardedCopy&) = delete;

  std::span<const std::uint8_t> view() const { return {bytes_, size_}; }

 private:
  std::uint8_t* map_ = nullptr;
  std::uint8_t* bytes_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t size_;
};

}  // namespace jitquill::tests
