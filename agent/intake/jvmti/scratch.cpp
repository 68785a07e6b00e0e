#include "agent/intake/jvmti/scratch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kPage = 4096;

constexpr std::size_t rounded(std::size_t size, std::size_t to) noexcept {
  return (size + to - 1) & ~(to - 1);
}

}  // namespace

struct alignas(kAlignment) Scratch::Block {
  Block* before;
  std::size_t size;
};

Scratch::~Scratch() {
  while (blocks_ != nullptr) {
    Block* const block = blocks_;
    blocks_ = block->before;
    raw::unmap(block, block->size);
  }
}

bool Scratch::add_block(std::size_t size) noexcept {
  const std::size_t mapped = std::max(kBlock, rounded(size + sizeof(Block), kPage));
  if (mapped_ + mapped > kMost) return false;
  const long at = raw::map(mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(at)) return false;
  blocks_ = new (reinterpret_cast<void*>(at)) Block{blocks_, mapped};
  mapped_ += mapped;
  next_ = reinterpret_cast<unsigned char*>(blocks_ + 1);
  end_ = reinterpret_cast<unsigned char*>(at) + mapped;
  return true;
}

void* Scratch::take(std::size_t size) noexcept {
  if (size > kMost) return nullptr;
  size = rounded(size, kAlignment);
  if (size > static_cast<std::size_t>(end_ - next_) && !add_block(size)) return nullptr;
  return std::exchange(next_, next_ + size);
}

}  // namespace jitquill::intake::jvmti
