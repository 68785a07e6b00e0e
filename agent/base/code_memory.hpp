// Where code can be that a JIT made: memory that is executable and belongs to no file, as the kernel lists it
// in /proc/<pid>/maps. What lies in a file perf knows from there.
//
// Context   any; plain values. note_own_code(): [life], under the intakes' lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jitquill {

struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
};

constexpr std::uint64_t common_bytes(const AddressRange& a, const AddressRange& b) noexcept {
  const std::uint64_t start = a.start > b.start ? a.start : b.start;
  const std::uint64_t end = a.end < b.end ? a.end : b.end;
  return start < end ? end - start : 0;
}

// A line of /proc/<pid>/maps, without its newline; nothing if no such code can be there. What the kernel puts
// into each process (vdso, stack) is none, nor is a library whose file was replaced; a memfd, shared memory
// and /dev/zero are no files.
std::optional<AddressRange> code_range(std::string_view line) noexcept;

// "jit-<digits>.dump", in whatever folder: perf finds such files by this name, and so do we.
bool is_dump(std::string_view path) noexcept;

// Code that we made ourselves: nobody's JIT's. A few ranges are kept.
void note_own_code(AddressRange range) noexcept;
std::uint64_t own_code_in(AddressRange range) noexcept;

}  // namespace jitquill
