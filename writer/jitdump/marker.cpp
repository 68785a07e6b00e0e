#include "writer/jitdump/marker.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::size_t kMarkerSize = 4096;  // the kernel rounds up to its page

}  // namespace

bool Marker::put(int descriptor) noexcept {
  drop();
  const long mapped = raw::map(kMarkerSize, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor);
  if (raw::is_error(mapped)) return false;
  address_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(mapped));
  return true;
}

void Marker::drop() noexcept {
  if (address_ != nullptr) (void)raw::unmap(address_, kMarkerSize);
  address_ = nullptr;
}

}  // namespace jitquill::jitdump
