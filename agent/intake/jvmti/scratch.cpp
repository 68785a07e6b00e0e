#include "agent/intake/jvmti/scratch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kPage = 4096;

constinit std::atomic<void*> g_kept{nullptr};

constexpr std::size_t rounded(std::size_t size, std::size_t to) noexcept {
  return (size + to - 1) & ~(to - 1);
}

}  // namespace

struct alignas(kAlignment) Scratch::Block {
  Block* before;
  std::size_t size;
};

Scratch::~Scratch() {
  for (unsigned char* used_end = next_; blocks_ != nullptr; used_end = nullptr) {
    Block* const block = blocks_;
    blocks_ = block->before;
    auto* const begin = reinterpret_cast<unsigned char*>(block);
    give_back(block, used_end == nullptr ? block->size : static_cast<std::size_t>(used_end - begin));
  }
}

// Zeroed, as new memory would be.
void Scratch::give_back(Block* block, std::size_t used) noexcept {
  const std::size_t size = block->size;
  if (size == kBlock) {
    std::memset(static_cast<void*>(block), 0, used);
    void* none = nullptr;
    if (g_kept.compare_exchange_strong(none, block, std::memory_order_release, std::memory_order_relaxed))
      return;
  }
  raw::unmap(block, size);
}

void* Scratch::memory_for(std::size_t size) noexcept {
  if (size == kBlock) {
    if (void* const kept = g_kept.exchange(nullptr, std::memory_order_acquire)) return kept;
  }
  const long at = raw::map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return raw::is_error(at) ? nullptr : reinterpret_cast<void*>(at);
}

bool Scratch::add_block(std::size_t size) noexcept {
  const std::size_t mapped = std::max(kBlock, rounded(size + sizeof(Block), kPage));
  if (mapped_ + mapped > kMost) return false;
  void* const at = memory_for(mapped);
  if (at == nullptr) return false;
  blocks_ = new (at) Block{blocks_, mapped};
  mapped_ += mapped;
  next_ = reinterpret_cast<unsigned char*>(blocks_ + 1);
  end_ = static_cast<unsigned char*>(at) + mapped;
  return true;
}

void* Scratch::take(std::size_t size) noexcept {
  if (size > kMost) return nullptr;
  size = rounded(size, kAlignment);
  if (size > static_cast<std::size_t>(end_ - next_) && !add_block(size)) return nullptr;
  return std::exchange(next_, next_ + size);
}

}  // namespace jitquill::intake::jvmti
