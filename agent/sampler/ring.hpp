// One CPU's ring of records, which the kernel writes and we read.
//
// Source    perf_event_open(2), "MMAP layout"; linux/perf_event.h says which barriers.
// Context   [drain]; any one thread. Memory is the kernel's: raw mmap. It does not outlive a fork or an exec:
//           a child has neither mapping nor descriptor.
// Promises  nothing waits. What is read is the reader's until next() or drop().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill::sampler {

class Ring {
 public:
  // Of an event whose descriptor this is: it lives as long as it is mapped. 0, or -errno: -EPERM where no
  // more memory may be locked.
  int map(int event, std::size_t bytes) noexcept;
  void unmap() noexcept;
  bool is_mapped() const noexcept { return page_ != nullptr; }
  std::size_t mapped_bytes() const noexcept;

  // What there is is read up to here.
  void begin() noexcept;
  // A record, header included; empty: there is no more. `room`: where one is put together that goes over the
  // ring's end, kMostRecord bytes.
  static constexpr std::size_t kMostRecord = 64 * 1024;
  std::span<const std::uint8_t> next(std::uint8_t* room) noexcept;

 private:
  void* page_ = nullptr;  // perf_event_mmap_page, and behind it the data
  std::size_t bytes_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace jitquill::sampler
