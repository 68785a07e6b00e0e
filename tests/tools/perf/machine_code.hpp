// Writes x86-64 machine code and, with each instruction, what the agent must know of it: frame events and
// lines.
//
// Context   host programs of the perf tests; 64-bit Linux calling convention.
// Does not  know more instructions than these hosts need.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include <jitquill/jitquill.h>

namespace perf_hosts {

struct Register {
  std::uint8_t code;   // in instructions
  std::uint8_t dwarf;  // in frame events
};
inline constexpr Register kRbx = {3, 3}, kRbp = {5, 6}, kR12 = {12, 12}, kR13 = {13, 13}, kR14 = {14, 14};

class MachineCode {
 public:
  void push(Register reg) {
    if (reg.code >= 8) bytes({0x41});
    bytes({byte(0x50 + reg.code % 8)});
    event(JITQUILL_FRAME_PUSH, reg.dwarf, 0);
  }
  void pop(Register reg) {
    if (reg.code >= 8) bytes({0x41});
    bytes({byte(0x58 + reg.code % 8)});
    event(JITQUILL_FRAME_POP, reg.dwarf, 0);
  }
  void allocate(std::uint32_t size) {  // sub rsp, size
    bytes({0x48, 0x81, 0xEC});
    word(size);
    event(JITQUILL_FRAME_ALLOCATE, 0, size);
  }
  void free(std::uint32_t size) {  // add rsp, size
    bytes({0x48, 0x81, 0xC4});
    word(size);
    event(JITQUILL_FRAME_FREE, 0, size);
  }
  void set(Register reg, std::uint32_t value) {  // mov reg32, value
    if (reg.code >= 8) bytes({0x41});
    bytes({byte(0xB8 + reg.code % 8)});
    word(value);
  }
  void spin(std::uint32_t rounds) {  // mov ecx, rounds; dec ecx; jnz
    bytes({0xB9});
    word(rounds);
    bytes({0xFF, 0xC9, 0x75, 0xFC});
  }
  void call(const void* function) {  // mov rax, function; call rax
    const auto address = reinterpret_cast<std::uint64_t>(function);
    bytes({0x48, 0xB8});
    word(static_cast<std::uint32_t>(address));
    word(static_cast<std::uint32_t>(address >> 32));
    bytes({0xFF, 0xD0});
  }
  void call_own_start() {  // call rel32
    bytes({0xE8});
    word(0u - static_cast<std::uint32_t>(size() + 4));
  }
  void ret() { bytes({0xC3}); }
  void bytes(std::initializer_list<std::uint8_t> more) { bytes_.insert(bytes_.end(), more); }

  // The code from here on comes from this line.
  void line(std::uint32_t number) {
    lines_.push_back({static_cast<std::uint32_t>(size()), number, 0, 0, nullptr});
  }

  std::size_t size() const { return bytes_.size(); }

  // Copies the code to `addr`, which is executable and has `room` more bytes behind it, and announces it.
  bool place(void* addr, const char* name, const char* file, std::size_t room) const {
    std::memcpy(addr, bytes_.data(), size());
    jitquill_code code = {};
    code.struct_size = sizeof code;
    code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code.addr = addr;
    code.size = size();
    code.name = name;
    code.file = file;
    code.lines = lines_.data();
    code.line_count = lines_.size();
    code.frame = events_.data();
    code.frame_count = events_.size();
    code.room = room;
    return jitquill_code_loaded(&code, nullptr) == JITQUILL_OK;
  }

 private:
  static std::uint8_t byte(int value) { return static_cast<std::uint8_t>(value); }
  void word(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  void event(jitquill_frame_kind kind, std::uint8_t dwarf, std::uint32_t value) {
    events_.push_back({static_cast<std::uint32_t>(size()), static_cast<std::uint8_t>(kind), dwarf, 0, value});
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<jitquill_frame_event> events_;
  std::vector<jitquill_line> lines_;
};

}  // namespace perf_hosts
