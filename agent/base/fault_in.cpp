#include "agent/base/fault_in.hpp"

#include <algorithm>
#include <cstring>

namespace jitquill {
namespace {

constexpr std::size_t kPageSize = 4096;

void read_byte(const std::uint8_t* at) noexcept {
  (void)*static_cast<const volatile std::uint8_t*>(at);
}

template <class Row>
void fault_in_rows(std::span<const Row> rows) noexcept {
  fault_in({reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size_bytes()});
}

// Code that another core wrote, or this one long ago, comes into the cache while signals are held back and
// the lock is taken. The rest of large code the CPU fetches ahead by itself.
void ask_for(std::span<const std::uint8_t> code) noexcept {
  constexpr std::size_t kLineSize = 64, kMost = 16 * kLineSize;
  const std::size_t size = std::min(code.size(), kMost);
  for (std::size_t at = 0; at < size; at += kLineSize) __builtin_prefetch(code.data() + at);
}

// Reads texts to their ends; one that follows itself, as in most tables, only once.
class TextReader {
 public:
  void read(const char* text) noexcept {
    if (text == nullptr || text == last_) return;
    last_ = text;
    const std::size_t size = std::strlen(text);
    asm volatile("" : : "r"(size));  // or the compiler drops the call
  }

 private:
  const char* last_ = nullptr;
};

}  // namespace

// One byte of each page: another in a page that was read would only wait for the memory of its own line.
void fault_in(std::span<const std::uint8_t> memory) noexcept {
  if (memory.empty()) return;
  const auto start = reinterpret_cast<std::uint64_t>(memory.data());
  read_byte(memory.data());
  for (std::uint64_t page = (start | (kPageSize - 1)) + 1; page < start + memory.size(); page += kPageSize)
    read_byte(memory.data() + (page - start));
}

void fault_in(const CodeLoad& load) noexcept {
  ask_for(load.bytes);
  if (!load.may_fault) fault_in(load.bytes);
  fault_in_rows(load.unwinding.events);
  fault_in(load.unwinding.ready.initial);
  fault_in(load.unwinding.ready.rows);
  fault_in_rows(load.inlining.rows);
  fault_in_rows(load.sites);
  TextReader files;
  files.read(load.file);
  for (const Line& line : load.lines) files.read(line.file);
  for (const InlinePosition& position : load.inlining.positions) {
    files.read(position.function);
    files.read(position.file);
  }
}

}  // namespace jitquill
