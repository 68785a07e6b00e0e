#include "nib/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nib {

constinit thread_local ThreadWords words;

std::size_t size_of(const Object& object) noexcept {
  constexpr std::size_t kWord = sizeof(std::int64_t);
  switch (object.kind) {
    case Kind::kRecord:
      return sizeof(Object) + object.fields * kWord;
    case Kind::kTask:
      return sizeof(Task);
    case Kind::kChannel:
      return sizeof(Channel) +
             static_cast<std::size_t>(reinterpret_cast<const Channel&>(object).capacity) * kWord;
    default: {
      const auto length = static_cast<std::size_t>(reinterpret_cast<const Array&>(object).length);
      return (sizeof(Array) + length * element_size(object.kind) + kWord - 1) / kWord * kWord;
    }
  }
}

Heap::Heap(const HeapOptions& options) noexcept
    : options_(options), threshold_(std::min(kMinThreshold, options.limit)) {}

Heap::~Heap() {
  for (void* each : chunks_) std::free(each);
  for (const Large& each : large_) std::free(each.object);
}

std::int64_t Heap::max_length(Kind kind) const noexcept {
  const std::size_t limit = options_.limit / sizeof(std::int64_t) * sizeof(std::int64_t);
  return limit < sizeof(Array) ? 0 : static_cast<std::int64_t>((limit - sizeof(Array)) / element_size(kind));
}

std::size_t Heap::reserved() const noexcept {
  std::size_t size = chunks_.size() * kChunkSize;
  for (const Large& each : large_) size += each.size;
  return size;
}

std::size_t Heap::lines_in_use() const noexcept {
  std::size_t size = 0;
  for (const Block* each : blocks_)
    size += kLineSize * static_cast<std::size_t>(std::count(each->is_marked, each->is_marked + kLines, 1));
  for (const Large& each : large_) size += each.size;
  return size;
}

// ---- Allocation ----

std::byte* Heap::take(std::size_t size, ThreadWords& thread) {
  if (size > kMaxSmall) return take_large(size);
  const bool fits = size <= static_cast<std::size_t>(thread.end - thread.next);
  if (!fits && !find_hole(size, thread)) return nullptr;
  std::byte* const memory = thread.next;
  thread.next += size;
  return memory;
}

std::byte* Heap::take_large(std::size_t size) {
  if (size > options_.limit - used_) return nullptr;
  auto* const memory = static_cast<std::byte*>(std::malloc(size));
  if (memory == nullptr) return nullptr;
  used_ += size;
  large_.push_back({reinterpret_cast<Object*>(memory), size});
  return memory;
}

// The rest of the thread's old hole is not used before the next collection.
bool Heap::find_hole(std::size_t size, ThreadWords& thread) {
  used_ -= static_cast<std::size_t>(thread.end - thread.next);
  thread.next = thread.end = nullptr;
  const std::size_t left = (options_.limit - used_) / sizeof(Object) * sizeof(Object);
  if (size > left) return false;
  while (true) {
    if (next_block_ == blocks_.size() && !add_chunk()) return false;
    Block& block = *blocks_[next_block_];
    const auto* const marks = block.is_marked;
    std::size_t first = next_line_;
    while (first < kLines && marks[first] != 0) ++first;
    std::size_t last = first;
    while (last < kLines && marks[last] == 0) ++last;
    next_line_ = last;
    if (last == kLines) {
      ++next_block_;
      next_line_ = 1;
    }
    const std::size_t room = (last - first) * kLineSize;
    if (room < size) continue;
    const std::size_t given = options_.is_stressed ? size : std::min(room, left);
    thread.next = block.line(first);
    thread.end = thread.next + given;
    used_ += given;
    return true;
  }
}

bool Heap::add_chunk() {
  auto* const chunk = static_cast<std::byte*>(std::aligned_alloc(kBlockSize, kChunkSize));
  if (chunk == nullptr) return false;
  chunks_.push_back(chunk);
  for (std::size_t i = 0; i < kChunkSize; i += kBlockSize) {
    auto* const block = reinterpret_cast<Block*>(chunk + i);
    std::memset(block->is_marked, 0, kLines);
    blocks_.push_back(block);
  }
  return true;
}

// ---- Collection ----

void Heap::start_marking() noexcept {
  epoch_ = static_cast<std::uint8_t>(3 - epoch_);
  live_ = 0;
  for (Block* each : blocks_) std::memset(each->is_marked, 0, kLines);
}

void Heap::mark(Object* object) {
  if (object == nullptr || object->mark == epoch_ || object->place == Place::kStatic) return;
  object->mark = epoch_;
  const std::size_t size = size_of(*object);
  live_ += size;
  if (object->place == Place::kBlock) mark_lines(object, size);
  const bool has_own = object->kind == Kind::kReferences || object->kind == Kind::kTask;
  if (object->references != 0 || has_own) to_trace_.push_back(object);
}

void Heap::mark_lines(const Object* object, std::size_t size) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  auto* const block = reinterpret_cast<Block*>(address & ~(kBlockSize - 1));
  const std::size_t first = address % kBlockSize / kLineSize;
  const std::size_t last = (address % kBlockSize + size - 1) / kLineSize;
  for (std::size_t line = first; line <= last; ++line) block->is_marked[line] = 1;
}

void Heap::trace(Object* object) {
  auto* const fields = reinterpret_cast<Object**>(object + 1);
  switch (object->kind) {
    case Kind::kRecord:
      for (unsigned bits = object->references; bits != 0; bits &= bits - 1) mark(fields[__builtin_ctz(bits)]);
      break;
    case Kind::kReferences: {
      auto& array = reinterpret_cast<Array&>(*object);
      auto* const elements = static_cast<Object**>(array.elements());
      for (std::int64_t i = 0; i < array.length; ++i) mark(elements[i]);
      break;
    }
    case Kind::kChannel: {
      auto& channel = reinterpret_cast<Channel&>(*object);
      for (std::int64_t i = 0; i < channel.count; ++i)
        mark(reinterpret_cast<Object*>(channel.values()[(channel.first + i) % channel.capacity]));
      break;
    }
    case Kind::kTask: {
      const auto& task = reinterpret_cast<const Task&>(*object);
      mark(task.arguments);
      if (object->references != 0) mark(reinterpret_cast<Object*>(task.result));
      break;
    }
    default:
      break;
  }
}

void Heap::finish_marking() {
  while (!to_trace_.empty()) {
    Object* const object = to_trace_.back();
    to_trace_.pop_back();
    trace(object);
  }
}

void Heap::sweep() {
  sweep_large();
  if (options_.is_stressed) destroy_free_lines();
  next_block_ = 0;
  next_line_ = 1;
  used_ = live_;
  threshold_ = std::min(std::max(kMinThreshold, 2 * live_), options_.limit);
  ++collections_;
}

void Heap::sweep_large() {
  const auto is_live = [this](const Large& each) { return each.object->mark == epoch_; };
  const auto dead = std::partition(large_.begin(), large_.end(), is_live);
  for (auto each = dead; each != large_.end(); ++each) std::free(each->object);
  large_.erase(dead, large_.end());
}

// What is used after it was collected then does harm at once. Holes behind the one that was found last are as
// the collection before left them.
void Heap::destroy_free_lines() noexcept {
  constexpr int kDestroyed = 0xdb;
  for (std::size_t i = 0; i < std::min(next_block_ + 1, blocks_.size()); ++i) {
    Block& block = *blocks_[i];
    for (std::size_t line = 1; line < kLines; ++line)
      if (block.is_marked[line] == 0) std::memset(block.line(line), kDestroyed, kLineSize);
  }
}

}  // namespace nib
