#include "writer/gdbobj/files.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

namespace jitquill::gdbobj {
namespace {

constexpr std::uint32_t kFirstCapacity = 32;

template <class T>
T* allocate(std::size_t count) noexcept {
  return static_cast<T*>(::operator new(count * sizeof(T), std::nothrow));
}

}  // namespace

// The name, NUL-terminated, lies behind it.
struct Files::File {
  std::uint64_t hash;
  std::size_t size;
  std::uint32_t table;   // the last that it has a number in
  std::uint32_t number;  // there
  char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
};

Files::~Files() {
  for (std::uint32_t i = 0; i < count_; ++i) ::operator delete(files_[i]);
  ::operator delete(files_);
  ::operator delete(order_);
  ::operator delete(slots_);
}

// Where the file is, or the free slot for it.
std::uint32_t& Files::slot_for(const char* name, std::size_t size, std::uint64_t hash) noexcept {
  const std::size_t mask = std::size_t{capacity_} * 2 - 1;
  std::size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    File& file = *files_[slots_[at] - 1];
    if (file.hash == hash && file.size == size && std::memcmp(file.text(), name, size) == 0) break;
  }
  return slots_[at];
}

bool Files::grow() noexcept {
  const std::uint32_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  File** const files = allocate<File*>(capacity);
  auto* const order = allocate<std::uint32_t>(capacity);
  auto* const slots = allocate<std::uint32_t>(std::size_t{capacity} * 2);
  if (files == nullptr || order == nullptr || slots == nullptr) {
    ::operator delete(files);
    ::operator delete(order);
    ::operator delete(slots);
    return false;
  }
  std::copy_n(files_, count_, files);
  std::copy_n(order_, in_table_, order);
  std::fill_n(slots, std::size_t{capacity} * 2, 0);
  ::operator delete(files_);
  ::operator delete(order_);
  ::operator delete(slots_);
  files_ = files;
  order_ = order;
  slots_ = slots;
  capacity_ = capacity;
  for (std::uint32_t i = 0; i < count_; ++i)
    slot_for(files_[i]->text(), files_[i]->size, files_[i]->hash) = i + 1;
  return true;
}

std::uint32_t Files::intern(const char* name) noexcept {
  if (count_ == capacity_ && !grow()) return kNone;
  const std::size_t size = std::strlen(name);
  const std::uint64_t hash = std::hash<std::string_view>{}({name, size});
  std::uint32_t& slot = slot_for(name, size, hash);
  if (slot != 0) return slot - 1;
  void* const block = ::operator new(sizeof(File) + size + 1, std::nothrow);
  if (block == nullptr) return kNone;
  auto* const file = new (block) File{.hash = hash, .size = size, .table = 0, .number = 0};
  std::memcpy(file->text(), name, size + 1);
  files_[count_] = file;
  slot = ++count_;
  return slot - 1;
}

const char* Files::name(std::uint32_t file) const noexcept {
  return files_[file]->text();
}

void Files::start_table() noexcept {
  ++table_;
  in_table_ = 0;
}

std::uint32_t Files::number(std::uint32_t file) noexcept {
  File& known = *files_[file];
  if (known.table != table_) {
    known.table = table_;
    order_[in_table_++] = file;
    known.number = in_table_;
  }
  return known.number;
}

}  // namespace jitquill::gdbobj
