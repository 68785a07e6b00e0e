// A small JIT with the GDB JIT interface: makes functions that return, keeps symbol files of them in memory
// and registers those as the interface says.
//
// Context   host programs, which are built with one of the bodies of __jit_debug_register_code below.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "tests/support/symfile.hpp"

extern "C" {
struct jit_code_entry {
  jit_code_entry* next;
  jit_code_entry* previous;
  const void* symfile;
  std::uint64_t size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action;
  jit_code_entry* relevant;
  jit_code_entry* first;
};
[[gnu::visibility("default")]] extern jit_descriptor __jit_debug_descriptor;
[[gnu::visibility("default")]] void __jit_debug_register_code();
void __register_frame(void*);
void __deregister_frame(void*);
}

// mov $constant, %eax; lea 0(%rip), %rcx (relocated); ret, and its unwinding section behind it.
class Code {
 public:
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kFieldAt = 8;   // of the relocation
  static constexpr std::size_t kRangeAt = 28;  // of the function, in its frames
  static constexpr std::size_t kFramesSize = 48;
  static constexpr std::size_t kCieSize = 20;
  static constexpr std::size_t kFdeSize = 24;

  Code(std::string name, std::uint8_t* at) : name_(std::move(name)), at_(at) {
    // No two functions with the same bytes: the dump would change one.
    const auto constant = static_cast<std::uint32_t>(std::hash<std::string>{}(name_));
    static constexpr std::uint8_t kBytes[] = {0xB8, 0, 0, 0, 0, 0x48, 0x8D, 0x0D, 0, 0, 0, 0, 0xC3};
    std::memset(at_, 0xCC, kSize);
    std::memcpy(at_, kBytes, sizeof kBytes);
    std::memcpy(at_ + 1, &constant, sizeof constant);
    put_frames();
  }

  const std::string& name() const { return name_; }
  std::uint8_t* address() const { return at_; }
  std::uint8_t* frames() const { return at_ + kSize; }

  void relocate() const {
    const std::uint32_t distance = 0x12345678;
    std::memcpy(at_ + kFieldAt, &distance, sizeof distance);
  }
  void expect() const {
    std::printf("expect %s %p ", name_.c_str(), static_cast<void*>(at_));
    for (std::size_t i = 0; i < kSize; ++i) std::printf("%02x", at_[i]);
    std::puts("");
  }

  std::vector<std::uint8_t> symfile() const { return file().build(); }
  std::vector<std::uint8_t> unrelocated_symfile() const {
    test_support::Symfile of = file();
    of.sections[0].relocations = {{kFieldAt, ELF64_R_INFO(1, R_X86_64_PC32), -4}};
    return of.build();
  }

 private:
  test_support::Symfile file() const {
    test_support::Symfile of;
    of.sections.push_back({".text", reinterpret_cast<std::uint64_t>(at_), {at_, at_ + kSize}});
    of.symbols = {{name_, 0, kSize, 0}};
    return of;
  }

  // | CIE: version 1, "", code 1, data -8, ra 16, def_cfa rsp 8, offset ra 1 | FDE: absolute | zeroes |
  void put_frames() const {
    static constexpr std::uint8_t kCie[kCieSize] = {16, 0,    0,  0,    0, 0, 0,    0, 1, 0,
                                                    1,  0x78, 16, 0x0C, 7, 8, 0x90, 1, 0, 0};
    std::uint8_t* to = frames();
    std::memcpy(to, kCie, sizeof kCie);
    to += sizeof kCie;
    const std::uint32_t head[] = {20, sizeof kCie + 4};
    const std::uint64_t range[] = {reinterpret_cast<std::uint64_t>(at_), kSize};
    std::memcpy(to, head, sizeof head);
    std::memcpy(to + sizeof head, range, sizeof range);
    std::memset(to + sizeof head + sizeof range, 0, 4);
  }

  std::string name_;
  std::uint8_t* at_;
};

class Jit {
 public:
  static constexpr std::size_t kMemory = 256 * 1024;
  static constexpr std::size_t kStep = 128;

  Jit()
      : memory_(static_cast<std::uint8_t*>(
            mmap(nullptr, kMemory, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        next_(memory_) {}

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }

  Code make(const std::string& name) {
    Code code(name, next_);
    next_ += kStep;
    functions_.push_back(code);
    return code;
  }
  void reuse_memory() {
    next_ -= kStep;
    functions_.pop_back();
  }

  // Which entry it is: for remove().
  std::size_t add(std::vector<std::uint8_t> symfile) {
    symfiles_.push_back(std::move(symfile));
    return add_raw(symfiles_.back().data(), symfiles_.back().size());
  }
  std::size_t add_raw(const void* symfile, std::uint64_t size) {
    auto* const entry = new jit_code_entry{__jit_debug_descriptor.first, nullptr, symfile, size};
    if (entry->next != nullptr) entry->next->previous = entry;
    __jit_debug_descriptor.first = entry;
    tell(1, entry);
    entries_.push_back(entry);
    return entries_.size() - 1;
  }
  void remove(std::size_t which) {
    jit_code_entry* const entry = entries_[which];
    if (entry->next != nullptr) entry->next->previous = entry->previous;
    (entry->previous != nullptr ? entry->previous->next : __jit_debug_descriptor.first) = entry->next;
    tell(2, entry);
    delete entry;
  }
  void point_to_nothing() {
    tell(1, reinterpret_cast<jit_code_entry*>(16));
    tell(1, nullptr);
    tell(9, entries_.back());
    tell(2, entries_.back());  // and it stays in the list
  }

  void register_frames(const Code& code) { __register_frame(code.frames()); }
  void take_frames_back(const Code& code) { __deregister_frame(code.frames()); }
  // The same tables, of another place: they come in a memory of their own.
  void register_frames_of(const Code& code, std::uint64_t address) {
    std::uint8_t* const frames = next_;
    next_ += kStep;
    std::memcpy(frames, code.frames(), Code::kFramesSize);
    std::memcpy(frames + Code::kRangeAt, &address, sizeof address);
    __register_frame(frames);
  }
  // One section of three pages, at whose end it is. Then the page between can be read no more.
  void register_frames_far_behind_others(const Code& code) {
    auto* const section = static_cast<std::uint8_t*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    put_section(section, code, (3 * kPage - Code::kCieSize - 4) / Code::kFdeSize - 1);
    __register_frame(section);
    (void)mprotect(section + kPage, kPage, PROT_NONE);
  }
  // Always in the same place.
  void register_frames_behind(const Code& code, std::size_t others) {
    put_section(section_, code, others);
    __register_frame(section_);
  }
  void take_section_back() { __deregister_frame(section_); }
  void protect() { (void)mprotect(memory_, kMemory, PROT_READ | PROT_WRITE | PROT_EXEC); }

  // In the order of their names, whichever thread was first.
  void expect_all() const {
    std::map<std::string, const Code*> by_name;
    for (const Code& code : functions_) by_name[code.name()] = &code;
    for (const auto& [name, code] : by_name) code->expect();
  }
  // Each returns its number: the code is what it was meant to be.
  void run_all() const {
    unsigned sum = 0;
    for (const Code& code : functions_) sum += reinterpret_cast<unsigned (*)()>(code.address())();
    std::printf("sum %u memory %zu\n", sum, kMemory);
  }

 private:
  static constexpr std::size_t kPage = 4096;

  // A CIE, `others` functions that were left out, this one, and zeroes.
  static void put_section(std::uint8_t* to, const Code& code, std::size_t others) {
    std::memcpy(to, code.frames(), Code::kCieSize);
    std::size_t at = Code::kCieSize;
    for (std::size_t i = 0; i <= others; ++i, at += Code::kFdeSize) {
      const std::uint32_t head[] = {Code::kFdeSize - 4, static_cast<std::uint32_t>(at + 4)};
      std::uint64_t range[] = {reinterpret_cast<std::uint64_t>(code.address()), Code::kSize};
      if (i != others) range[0] = range[1] = 0;
      std::memcpy(to + at, head, sizeof head);
      std::memcpy(to + at + sizeof head, range, sizeof range);
    }
    std::memset(to + at, 0, 4);
  }

  static void tell(std::uint32_t action, jit_code_entry* entry) {
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_register_code();
  }

  std::uint8_t* memory_;
  std::uint8_t* next_;
  alignas(8) std::uint8_t section_[1024];
  std::vector<Code> functions_;
  std::list<std::vector<std::uint8_t>> symfiles_;
  std::vector<jit_code_entry*> entries_;
};
