// Machine code for the tests: functions that call the next of a list, with a frame of any size.
//
// frame_size is a multiple of 16. A function is called with the rest of the list in rdi, and calls its first
// element with what follows it. The last element is a function of the test's own, which throws, exits or just
// returns.
//
// Context   tests; one arena may be used by several threads, each in its own part.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jitquill/jitquill.h"

namespace jitquill::test {

using Link = void (*)(void** rest);

inline constexpr std::size_t kChainCodeSize = 30;

class CodeArena {
 public:
  explicit CodeArena(std::size_t size) : size_(size) {
    void* const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    memory_ = static_cast<unsigned char*>(mapped);
  }
  ~CodeArena() { munmap(memory_, size_); }
  CodeArena(const CodeArena&) = delete;
  CodeArena& operator=(const CodeArena&) = delete;

  // push rbx; push rbp; sub rsp, frame + 8; xor ebp, ebp; mov rbx, rdi; lea rdi, [rbx + 8]; call [rbx];
  // add rsp, frame + 8; pop rbp; pop rbx; ret
  // rbp is no frame pointer on purpose: libunwind follows those where it is told nothing.
  void* write(std::size_t offset, std::uint32_t frame_size) {
    const std::uint32_t size = frame_size + 8;
    const auto f = [size](int byte) { return static_cast<unsigned char>(size >> (8 * byte)); };
    const std::array<unsigned char, kChainCodeSize> code = {
        0x53, 0x55, 0x48, 0x81, 0xEC, f(0), f(1), f(2), f(3), 0x31, 0xED, 0x48, 0x89, 0xFB, 0x48,
        0x8D, 0x7B, 0x08, 0xFF, 0x13, 0x48, 0x81, 0xC4, f(0), f(1), f(2), f(3), 0x5D, 0x5B, 0xC3};
    std::memcpy(memory_ + offset, code.data(), code.size());
    return memory_ + offset;
  }
  unsigned char* at(std::size_t offset) { return memory_ + offset; }

 private:
  unsigned char* memory_ = nullptr;
  std::size_t size_;
};

inline jitquill_status announce(void* entry, std::uint32_t frame_size,
                                std::uint64_t flags = JITQUILL_CODE_REGISTER,
                                std::size_t size = kChainCodeSize) {
  const jitquill_frame_event frame[] = {{1, JITQUILL_FRAME_PUSH, 3, 0, 0},
                                        {2, JITQUILL_FRAME_PUSH, 6, 0, 0},
                                        {9, JITQUILL_FRAME_ALLOCATE, 0, 0, frame_size + 8},
                                        {27, JITQUILL_FRAME_FREE, 0, 0, frame_size + 8},
                                        {28, JITQUILL_FRAME_POP, 6, 0, 0},
                                        {29, JITQUILL_FRAME_POP, 3, 0, 0}};
  jitquill_code code = {};
  code.struct_size = sizeof code;
  code.addr = entry;
  code.size = size;
  code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  code.frame = frame;
  code.frame_count = 6;
  code.flags = flags;
  return jitquill_code_loaded(&code, nullptr);
}

inline void* place(CodeArena& arena, std::size_t offset, std::uint32_t frame_size,
                   std::uint64_t flags = JITQUILL_CODE_REGISTER) {
  void* const entry = arena.write(offset, frame_size);
  announce(entry, frame_size, flags);
  return entry;
}

inline void run(std::vector<void*> functions, Link last) {
  functions.push_back(reinterpret_cast<void*>(last));
  reinterpret_cast<Link>(functions[0])(functions.data() + 1);
}

inline std::uint64_t counter(const char* name) {
  jitquill_statistic statistic{sizeof statistic, 0, nullptr, nullptr, 0};
  for (std::size_t i = 0; jitquill_statistic_at(i, &statistic) == JITQUILL_OK; ++i) {
    if (std::strcmp(statistic.name, name) == 0) return statistic.value;
  }
  std::abort();
}

inline std::uint64_t open_sections() {
  return counter("unwind_sections_made") - counter("unwind_sections_ended");
}

}  // namespace jitquill::test
