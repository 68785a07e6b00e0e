#include "writer/openj9/ring.hpp"

#include <atomic>
#include <cstring>

namespace jitquill::openj9 {

void PlainStores::bytes(std::uint8_t* at, std::span<const std::uint8_t> from) noexcept {
  // What was stored before must be there before, also if the process dies within the copy: so the compiler
  // may not move it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(at, from.data(), from.size());
}

void PlainStores::u32(std::uint8_t* at, std::uint32_t v) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(at), v, __ATOMIC_RELEASE);
}

void PlainStores::u64(std::uint8_t* at, std::uint64_t v) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), v, __ATOMIC_RELEASE);
}

template class Ring<Target{std::endian::little, 4}>;
template class Ring<Target{std::endian::little, 8}>;
template class Ring<Target{std::endian::big, 4}>;
template class Ring<Target{std::endian::big, 8}>;

}  // namespace jitquill::openj9
