#include "agent/unwinders/object_pool.hpp"

#include <sys/mman.h>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::unwinders {
namespace {

constexpr std::size_t kRegionSize = std::size_t{64} << 10;

}  // namespace

void* ObjectPool::take() noexcept {
  if (count_ > kRested) {
    Node* const node = oldest_;
    oldest_ = node->next;
    --count_;
    return node;
  }
  if (fresh_ == fresh_end_) {
    const long mapped = raw::map(kRegionSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (raw::is_error(mapped)) return nullptr;
    fresh_ = reinterpret_cast<Node*>(mapped);
    fresh_end_ = fresh_ + kRegionSize / sizeof(Node);
  }
  return fresh_++;
}

void ObjectPool::give_back(void* object) noexcept {
  auto* const node = static_cast<Node*>(object);  // the object is its first member
  node->next = nullptr;
  (count_ == 0 ? oldest_ : newest_->next) = node;
  newest_ = node;
  ++count_;
}

}  // namespace jitquill::unwinders
