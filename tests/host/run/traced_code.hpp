// Functions with sites that call what the test says: what there is of each is known to the record.
//
//   call(i, body, argument)   kCalls functions, told apart by their names
//   steps(n)                  n + 1 nested calls whose return addresses lie directly above each other
//
// Context   host programs.
#pragma once

#include <string>

#include "tests/host/sites/sled_code.hpp"

class TracedCode : public SledCode {
 public:
  static constexpr unsigned kCalls = 16;
  using Body = std::uint64_t (*)(void* argument);

  TracedCode() {
    for (unsigned i = 0; i < kCalls; ++i) put_call(at_of(i));
    put_steps(kStepsAt);
  }

  // Announces them: `names` in the order of their numbers, and the last as steps.
  void load(std::initializer_list<const char*> names, const char* steps = nullptr) const {
    unsigned i = 0;
    for (const char* name : names) announce(name, at_of(i++), true);
    if (steps != nullptr) announce(steps, kStepsAt, false);
  }

  std::uint64_t call(unsigned i, Body body = nothing, void* argument = nullptr) const {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes(at_of(i)));
    return reinterpret_cast<std::uint64_t (*)(Body, void*)>(address)(body, argument);
  }
  void steps(std::uint64_t n) const {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes(kStepsAt));
    reinterpret_cast<void (*)(std::uint64_t)>(address)(n);
  }
  static std::uint64_t nothing(void*) { return 0; }

 private:
  static constexpr std::uint32_t kStepsAt = kFreeFrom + kCalls * kFunctionSize;
  static constexpr std::uint32_t at_of(unsigned i) {
    return static_cast<std::uint32_t>(kFreeFrom + i * kFunctionSize);
  }

  // sub rsp, 8; mov rax, rdi; mov rdi, rsi; call rax; add rsp, 8
  void put_call(std::uint32_t at) const {
    put_sled(at, JITQUILL_SITE_ENTER);
    put(at + 11, {0x48, 0x83, 0xEC, 0x08, 0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7, 0xFF,
                  0xD0, 0x48, 0x83, 0xC4, 0x08, 0x90, 0x90, 0x90, 0x90, 0x90});
    put_sled(at + 32, JITQUILL_SITE_LEAVE);
    put(at + 43, {0xC3});
  }
  // sub rdi, 1; jb +5; call itself
  void put_steps(std::uint32_t at) const {
    put_sled(at, JITQUILL_SITE_ENTER);
    put(at + 11, {0x48, 0x83, 0xEF, 0x01, 0x72, 0x05, 0xE8});
    put_relative(at + 18, at);
    put(at + 22, {0x90, 0x90});
    put_sled(at + 24, JITQUILL_SITE_LEAVE);
    put(at + 35, {0xC3});
  }

  void announce(const char* name, std::uint32_t at, bool is_call) const {
    static const jitquill_site kOfCall[] = {{0, JITQUILL_SITE_ENTER, {}}, {32, JITQUILL_SITE_LEAVE, {}}};
    static const jitquill_site kOfSteps[] = {{0, JITQUILL_SITE_ENTER, {}}, {24, JITQUILL_SITE_LEAVE, {}}};
    static const jitquill_frame_event kFrame[] = {{15, JITQUILL_FRAME_ALLOCATE, 0, 0, 8},
                                                  {27, JITQUILL_FRAME_FREE, 0, 0, 8}};
    jitquill_code code = news(name, at);
    code.sites = is_call ? kOfCall : kOfSteps;
    code.frame = kFrame;
    code.frame_count = is_call ? 2 : 0;
    if (jitquill_code_loaded(&code, nullptr) < 0) std::abort();
  }
};
