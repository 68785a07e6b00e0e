#include "agent/base/arena.hpp"

#include <sys/mman.h>
#include <bit>
#include <new>
#include <utility>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kRegionSize = 256 * 1024;
constexpr std::size_t kLargest = 64 * 1024;  // in a class; larger blocks are mappings of their own
constexpr std::size_t kLargestSpare = 1024 * 1024;
constexpr std::size_t kStep = 16;
constexpr std::size_t kFineClasses = 16;  // 16, 32, ... 256; then 512, 1024, ... 64 KiB

constexpr std::uint32_t class_of(std::size_t size) noexcept {
  const std::size_t fine = size == 0 ? 0 : (size - 1) / kStep;
  if (fine < kFineClasses) return static_cast<std::uint32_t>(fine);
  return static_cast<std::uint32_t>(kFineClasses) +
         static_cast<std::uint32_t>(std::bit_width((size - 1) / (kStep * kFineClasses))) - 1;
}
constexpr std::size_t class_size(std::size_t size_class) noexcept {
  if (size_class < kFineClasses) return (size_class + 1) * kStep;
  return (kStep * kFineClasses) << (size_class - kFineClasses + 1);
}
static_assert(class_of(256) == 15 && class_of(257) == 16 && class_size(16) == 512);
static_assert(class_of(kLargest) == 23 && class_size(23) == kLargest);

void* map(std::size_t size, int more_flags = 0) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | more_flags;
  const long mapped = raw::map(size, PROT_READ | PROT_WRITE, flags, -1);
  return raw::is_error(mapped) ? nullptr : reinterpret_cast<void*>(mapped);
}

}  // namespace

struct alignas(kStep) Arena::Header {
  std::size_t mapping_size;  // 0 = block of a class
  std::uint32_t size_class;
  Owner owner;
};

struct Arena::FreeBlock {
  FreeBlock* next;
};

bool Arena::add_region() noexcept {
  // All of it will be used: one call is cheaper than 64 page faults.
  auto* region = static_cast<unsigned char*>(map(kRegionSize, MAP_POPULATE));
  if (region == nullptr) return false;
  next_ = region;  // the old region's rest is lost: at most one block of the size that did not fit
  end_ = region + kRegionSize;
  return true;
}

void* Arena::allocate(std::size_t size) noexcept {
  if (size > kLargest) return allocate_large(size);
  const std::uint32_t size_class = class_of(size);
  if (void* block = take_free(size_class); block != nullptr) return block;
  const std::size_t bytes = class_size(size_class) + sizeof(Header);
  if (static_cast<std::size_t>(end_ - next_) < bytes && !add_region()) return take_larger(size_class);
  Header* header = new (next_) Header{0, size_class, owner_};
  next_ += bytes;
  return header + 1;
}

void* Arena::allocate_large(std::size_t size) noexcept {
  const std::size_t mapping_size = (size + sizeof(Header) + 4095) & ~std::size_t{4095};
  if (mapping_size < size) return nullptr;
  for (Header*& spare : spares_) {
    if (spare != nullptr && spare->mapping_size >= mapping_size) return std::exchange(spare, nullptr) + 1;
  }
  void* const mapping = map(mapping_size);
  return mapping == nullptr ? nullptr : new (mapping) Header{mapping_size, 0, owner_} + 1;
}

// The larger ones are kept.
void Arena::free_large(Header* header) noexcept {
  for (Header*& spare : spares_) {
    const std::size_t kept_size = spare == nullptr ? 0 : spare->mapping_size;
    if (header->mapping_size <= kLargestSpare && header->mapping_size > kept_size) std::swap(header, spare);
    if (header == nullptr) return;
  }
  raw::unmap(header, header->mapping_size);
}

void* Arena::take_free(std::size_t size_class) noexcept {
  FreeBlock* const block = free_[size_class];
  if (block != nullptr) free_[size_class] = block->next;
  return block;
}

// Where the process has no more memory: what can_serve() promised may be of a larger class.
void* Arena::take_larger(std::size_t size_class) noexcept {
  void* block = nullptr;
  while (block == nullptr && ++size_class < kClasses) block = take_free(size_class);
  return block;
}

void Arena::free(void* block) noexcept {
  if (block == nullptr) return;
  Header* header = static_cast<Header*>(block) - 1;
  if (header->mapping_size != 0) return free_large(header);
  FreeBlock*& list = free_[header->size_class];
  list = new (block) FreeBlock{list};
}

bool Arena::can_serve(std::size_t size) noexcept {
  const std::size_t size_class = class_of(size);
  if (free_[size_class] != nullptr) return true;
  return static_cast<std::size_t>(end_ - next_) >= class_size(size_class) + sizeof(Header) || add_region();
}

void Arena::abandon() noexcept {
  for (FreeBlock*& list : free_) list = nullptr;
  for (Header*& spare : spares_) spare = nullptr;
  next_ = end_ = nullptr;
}

Arena& arena() noexcept {
  static constinit Arena the_arena{Arena::Owner::kLeafLock};
  return the_arena;
}

Arena& drain_arena() noexcept {
  static constinit Arena the_arena{Arena::Owner::kDrainLock};
  return the_arena;
}

Arena& arena_of(const void* block) noexcept {
  const auto* const header = static_cast<const Arena::Header*>(block) - 1;
  return header->owner == Arena::Owner::kLeafLock ? arena() : drain_arena();
}

}  // namespace jitquill
