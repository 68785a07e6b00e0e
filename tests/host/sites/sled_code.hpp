// Two functions with sites as a runtime without asmjit emits them, in memory that is mapped twice.
//
//   add(a, b)   returns a + b
//   jump(a, b)  a tail call of add
//
// Context   host programs.
#pragma once

#include <jitquill/jitquill.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

class SledCode {
 public:
  static constexpr std::size_t kSize = 8192, kFunctionSize = 64, kThunksAt = 1024, kMovedTo = 2048;
  static constexpr std::size_t kFreeFrom = 4096;  // for functions of others
  using Function = std::uint64_t (*)(std::uint64_t, std::uint64_t);

  SledCode() {
    const int file = memfd_create("code", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, kSize) != 0) std::abort();
    executable_ = map(file, PROT_READ | PROT_EXEC);
    writable_ = map(file, PROT_READ | PROT_WRITE);
    close(file);
    for (const auto kind : {JITQUILL_SITE_ENTER, JITQUILL_SITE_LEAVE, JITQUILL_SITE_TAIL}) put_thunk(kind);
    put_add(0);
    put_jump(kFunctionSize);
  }

  // add at 0 and at kMovedTo, if it was put there; jump behind it.
  void put_add(std::uint32_t at) const {
    put_sled(at, JITQUILL_SITE_ENTER);
    put(at + 11, {0x48, 0x8D, 0x04, 0x37, 0x90});  // lea rax, [rdi + rsi]; nop
    put_sled(at + 16, JITQUILL_SITE_LEAVE);
    put(at + 27, {0xC3});
  }
  void put_jump(std::uint32_t at) const {
    put_sled(at, JITQUILL_SITE_ENTER);
    put(at + 11, {0x90, 0x90, 0x90, 0x90, 0x90});
    put_sled(at + 16, JITQUILL_SITE_TAIL);
    put(at + 27, {0xE9});
    put_relative(at + 28, 0);
  }

  Function function(std::uint32_t at) const {
    return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(executable_ + at));
  }
  const std::uint8_t* bytes(std::uint32_t at) const { return executable_ + at; }
  std::uint8_t* writable(std::uint32_t at) const { return writable_ + at; }
  bool is_on(std::uint32_t at) const { return std::memcmp(bytes(at), "\x41\xBA", 2) == 0; }
  std::uint32_t id(std::uint32_t at) const {
    std::uint32_t id = 0;
    std::memcpy(&id, bytes(at) + 2, sizeof id);
    return id;
  }

  jitquill_code news(const char* name, std::uint32_t at) const {
    static const jitquill_site kAdd[] = {{0, JITQUILL_SITE_ENTER, {}}, {16, JITQUILL_SITE_LEAVE, {}}};
    static const jitquill_site kJump[] = {{0, JITQUILL_SITE_ENTER, {}}, {16, JITQUILL_SITE_TAIL, {}}};
    jitquill_code code = {};
    code.struct_size = sizeof code;
    code.addr = bytes(at);
    code.size = kFunctionSize;
    code.name = name;
    code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code.sites = at == kFunctionSize ? kJump : kAdd;
    code.site_count = 2;
    code.writable = writable(at);
    return code;
  }

 protected:
  void put(std::uint32_t at, std::initializer_list<std::uint8_t> bytes) const {
    std::memcpy(writable(at), bytes.begin(), bytes.size());
  }
  void put_relative(std::uint32_t at, std::uint32_t target) const {
    const std::uint32_t relative = target - (at + 4);
    std::memcpy(writable(at), &relative, sizeof relative);
  }
  void put_sled(std::uint32_t at, jitquill_site_kind kind) const {
    put(at, {0xEB, 0x09, 0, 0, 0, 0, 0xE8});
    put_relative(at + 7, thunk(kind));
  }
  static std::uint32_t thunk(jitquill_site_kind kind) {
    return static_cast<std::uint32_t>(kThunksAt) + 16 * static_cast<std::uint32_t>(kind);
  }

 private:
  static std::uint8_t* map(int file, int protection) {
    void* const memory = mmap(nullptr, kSize, protection, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<std::uint8_t*>(memory);
  }
  // Without an agent there is no hook, and the sled is never switched on.
  void put_thunk(jitquill_site_kind kind) const {
    const void* const hook = jitquill_site_hook(kind);
    put(thunk(kind), {0xFF, 0x25, 0, 0, 0, 0});
    std::memcpy(writable(thunk(kind) + 6), &hook, sizeof hook);
  }

  std::uint8_t* executable_;
  std::uint8_t* writable_;
};
