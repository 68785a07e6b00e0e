// The objects of one run of a program: arrays, strs and records.
//
// Context   one thread.
// Promises  at most `limit` bytes are allocated, heads of objects included. All of it is freed at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nib {

// What an object consists of behind its head.
enum class Kind : std::uint8_t { kRecord, kWords, kBytes, kReferences };
// Where it lies.
enum class Place : std::uint8_t { kBlock, kLarge, kStatic };

// What a value of a record type points to, unless it is null. The fields lie behind it, 8 bytes each.
struct Object {
  Kind kind;
  std::uint8_t fields = 0;       // of a record: their number
  std::uint16_t references = 0;  // of a record: bit i is set if field i refers to an object
  std::uint8_t mark = 0;         // of the collector
  Place place = Place::kBlock;
  std::uint16_t unused = 0;
};
static_assert(sizeof(Object) == sizeof(std::int64_t));

// What a value of an array type, or a str, points to. The elements lie behind it, of 1 byte (kBytes) or 8.
struct Array {
  Object head;
  std::int64_t length;

  void* elements() noexcept { return this + 1; }
  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), static_cast<std::size_t>(length)};
  }
};

constexpr std::size_t element_size(Kind kind) noexcept {
  return kind == Kind::kBytes ? sizeof(bool) : sizeof(std::int64_t);
}

class Heap {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{1} << 30;

  explicit Heap(std::size_t limit) noexcept : limit_(limit) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // The longest array that an empty heap could hold.
  std::int64_t max_length(Kind kind) const noexcept;
  // For 0 <= length <= max_length(); the elements are not set. Null: out of memory.
  Array* allocate_array(Kind kind, std::int64_t length);
  // A record with this head; the fields are not set. Null: out of memory.
  Object* allocate(Object head);

 private:
  void* allocate_bytes(std::size_t size);

  std::size_t limit_;
  std::size_t used_ = 0;
  std::vector<void*> all_;
};

}  // namespace nib
