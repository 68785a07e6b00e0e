// Small functions in machine code, with the sites of jitted code in them.
//
// Context   tests.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "agent/hooks/site_hooks.hpp"

namespace lanes_test {

class TracedCode {
 public:
  TracedCode() {
    memory_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw std::runtime_error("no executable memory");
    enter_ = put_thunk(jitquill_site_enter);
    leave_ = put_thunk(jitquill_site_leave);
    tail_ = put_thunk(jitquill_site_tail);
  }
  ~TracedCode() { munmap(memory_, kSize); }
  TracedCode(const TracedCode&) = delete;
  TracedCode& operator=(const TracedCode&) = delete;

  const std::uint8_t* here() const { return memory_ + used_; }
  TracedCode& bytes(std::initializer_list<std::uint8_t> code) {
    for (const std::uint8_t byte : code) memory_[used_++] = byte;
    return *this;
  }
  TracedCode& enter(std::uint32_t id, bool is_on = true) { return sled(enter_, id, is_on); }
  TracedCode& leave(std::uint32_t id, bool is_on = true) { return sled(leave_, id, is_on); }
  TracedCode& tail(std::uint32_t id, bool is_on = true) { return sled(tail_, id, is_on); }
  TracedCode& ret() { return bytes({0xC3}); }
  TracedCode& call(const void* target) { return relative(0xE8, target); }
  TracedCode& jump(const void* target) { return relative(0xE9, target); }

  // A function that does nothing but tell.
  const std::uint8_t* leaf(std::uint32_t id, bool is_on = true) {
    const std::uint8_t* const start = here();
    enter(id, is_on).leave(id, is_on).ret();
    return start;
  }

 private:
  static constexpr std::size_t kSize = 64 * 1024;

  const std::uint8_t* put_thunk(void (*hook)()) {
    const std::uint8_t* const start = here();
    bytes({0xFF, 0x25, 0, 0, 0, 0});  // jmp [rip + 0]
    std::memcpy(memory_ + used_, &hook, sizeof hook);
    used_ += sizeof hook;
    return start;
  }
  TracedCode& relative(std::uint8_t opcode, const void* target) {
    bytes({opcode});
    const auto distance = static_cast<std::int32_t>(static_cast<const std::uint8_t*>(target) - here() - 4);
    std::memcpy(memory_ + used_, &distance, sizeof distance);
    used_ += sizeof distance;
    return *this;
  }
  TracedCode& sled(const std::uint8_t* thunk, std::uint32_t id, bool is_on) {
    if (used_ % 2 != 0) bytes({0x90});
    is_on ? bytes({0x41, 0xBA}) : bytes({0xEB, 0x09});
    std::memcpy(memory_ + used_, &id, sizeof id);
    used_ += sizeof id;
    return call(thunk);
  }

  std::uint8_t* memory_ = nullptr;
  std::size_t used_ = 0;
  const std::uint8_t *enter_ = nullptr, *leave_ = nullptr, *tail_ = nullptr;
};

inline void call_code(const std::uint8_t* function) {
  reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(function))();
}

}  // namespace lanes_test
