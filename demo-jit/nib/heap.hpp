// The memory of one run's objects, and which of them are still in use: a mark-region heap, whose objects
// never move.
//
// Blocks of 32 KiB have lines of 256 bytes. A thread gets a hole, a run of free lines, and puts its new
// objects there one behind the other. A collection marks what can be reached, and the lines where it lies;
// all other lines are holes then. What is larger than kMaxSmall has memory of its own.
//
// Context   one thread at a time (World's lock); marking while no other thread runs jitted code.
// Promises  at most `limit` bytes of objects, heads included, are in use or waiting to be collected. Memory
//           beside them in lines that hold a live object is not counted. All of it is freed at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nib/object.hpp"

namespace nib {

struct HeapOptions {
  std::size_t limit = std::size_t{1} << 30;
  bool is_stressed = false;   // collects at each allocation, and destroys what is free
  bool counts_sites = false;  // FaultSite says what was made where
};

class Heap {
 public:
  explicit Heap(const HeapOptions& options) noexcept;
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  static constexpr std::size_t kBlockSize = std::size_t{32} << 10;
  static constexpr std::size_t kChunkSize = std::size_t{1} << 20;  // what it asks the system for
  static constexpr std::size_t kLineSize = 256;

  static constexpr bool is_small(std::size_t size) noexcept { return size <= kMaxSmall; }
  // The longest array that an empty heap could hold.
  std::int64_t max_length(Kind kind) const noexcept;
  // A collection should come before `size` more bytes.
  bool is_due(std::size_t size) const noexcept { return options_.is_stressed || used_ + size > threshold_; }
  // Memory for an object of `size` bytes; null: none is left. Small ones come from the thread's hole, which
  // is another one afterwards if it was too small.
  std::byte* take(std::size_t size, ThreadWords& thread);

  // A collection: start, mark() each root, finish, sweep; the threads' holes are lost.
  void start_marking() noexcept;
  void mark(Object* object);
  void finish_marking();
  bool is_marked(const Object& object) const noexcept { return object.mark == epoch_; }
  void sweep();

  std::size_t used() const noexcept { return used_; }  // the rests of holes included
  std::size_t live() const noexcept { return live_; }  // at the last collection
  std::size_t limit() const noexcept { return options_.limit; }
  std::size_t lines_in_use() const noexcept;  // bytes; at the last collection, large objects included
  std::size_t reserved() const noexcept;      // from the system
  std::size_t collections() const noexcept { return collections_; }

 private:
  static constexpr std::size_t kLines = kBlockSize / kLineSize;
  static constexpr std::size_t kMaxSmall = std::size_t{8} << 10;
  static constexpr std::size_t kMinThreshold = std::size_t{16} << 20;

  // At the start of its memory: the first line holds no objects.
  struct Block {
    std::uint8_t is_marked[kLines];
    std::byte* line(std::size_t index) noexcept {
      return reinterpret_cast<std::byte*>(this) + index * kLineSize;
    }
  };
  struct Large {
    Object* object;
    std::size_t size;
  };

  std::byte* take_large(std::size_t size);
  bool find_hole(std::size_t size, ThreadWords& thread);
  bool add_chunk();
  void mark_lines(const Object* object, std::size_t size) noexcept;
  void trace(Object* object);
  void sweep_large();
  void destroy_free_lines() noexcept;

  HeapOptions options_;
  std::size_t used_ = 0;
  std::size_t live_ = 0;
  std::size_t threshold_;
  std::size_t collections_ = 0;
  std::uint8_t epoch_ = 1;  // mark of live objects; 1 or 2, and new ones have 0
  std::vector<void*> chunks_;
  std::vector<Block*> blocks_;
  std::size_t next_block_ = 0;  // where holes are looked for
  std::size_t next_line_ = 1;
  std::vector<Large> large_;
  std::vector<Object*> to_trace_;
};

}  // namespace nib
