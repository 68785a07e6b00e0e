#include "agent/sampler/ring.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::size_t kPageSize = 4096;

perf_event_mmap_page& head_of(void* page) noexcept {
  return *static_cast<perf_event_mmap_page*>(page);
}

}  // namespace

std::size_t Ring::mapped_bytes() const noexcept {
  return bytes_ + kPageSize;
}

int Ring::map(int event, std::size_t bytes) noexcept {
  bytes_ = bytes;
  const long mapped = raw::map(mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event);
  if (raw::is_error(mapped)) return static_cast<int>(mapped);
  page_ = reinterpret_cast<void*>(mapped);
  return 0;
}

void Ring::unmap() noexcept {
  if (page_ != nullptr) raw::unmap(page_, mapped_bytes());
  page_ = nullptr;
}

void Ring::begin() noexcept {
  const perf_event_mmap_page& head = head_of(page_);
  at_ = head.data_tail;
  end_ = __atomic_load_n(&head.data_head, __ATOMIC_ACQUIRE);
}

// What was handed out before is given back. A size that cannot be would have us run wild: all is passed over.
std::span<const std::uint8_t> Ring::next(std::uint8_t* room) noexcept {
  perf_event_mmap_page& head = head_of(page_);
  __atomic_store_n(&head.data_tail, at_, __ATOMIC_RELEASE);
  if (at_ == end_) return {};
  const auto* const data = static_cast<const std::uint8_t*>(page_) + kPageSize;
  const std::size_t from = at_ % bytes_;
  perf_event_header record;
  std::memcpy(&record, data + from, sizeof record);  // of 8 bytes, at a multiple of 8
  if (record.size < sizeof record || record.size > end_ - at_) {
    __atomic_store_n(&head.data_tail, at_ = end_, __ATOMIC_RELEASE);
    return {};
  }
  at_ += record.size;
  const std::size_t until_end = bytes_ - from;
  if (record.size <= until_end) return {data + from, record.size};
  std::memcpy(room, data + from, until_end);
  std::memcpy(room + until_end, data, record.size - until_end);
  return {room, record.size};
}

}  // namespace jitquill::sampler
