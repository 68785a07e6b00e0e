// Functions that can be told apart: number i has a name, code, lines and a frame that follow from i alone.
// Hosts announce them, drivers compute them again and compare.
//
// Context   host programs and their drivers; no allocation after construction.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>

#include <jitquill/jitquill.h>

namespace pattern {

inline constexpr std::size_t kSpacing =
    512;  // bytes from function to function: code, then room for unwinding
inline constexpr std::size_t kMaxLines = 5;
inline constexpr std::array<std::uint8_t, 5> kSaved = {3, 6, 12, 13, 14};  // rbx rbp r12 r13 r14

inline std::size_t code_size(std::uint32_t i) {
  return 32 + i % 97;
}

inline std::uint8_t code_byte(std::uint32_t i, std::size_t at) {
  std::uint64_t mixed = (std::uint64_t{i} << 16 | at) * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 29;
  return static_cast<std::uint8_t>(mixed * 0xBF58476D1CE4E5B9u >> 56);
}

inline std::size_t line_count(std::uint32_t i) {
  return 1 + i % kMaxLines;
}

// Row r starts 4r bytes behind the start; odd rows come from the function's own file.
inline std::uint32_t line_number(std::uint32_t i, std::size_t row) {
  return i * 10 + static_cast<std::uint32_t>(row) + 1;
}

inline const char* line_file(std::uint32_t i, std::size_t row) {
  static constexpr const char* kFiles[] = {"/src/zero.nib", "/src/one.nib", "/src/two.nib"};
  return row % 2 == 1 ? "/src/own.nib" : kFiles[i % 3];
}

inline std::size_t saved_count(std::uint32_t i) {
  return i % (kSaved.size() + 1);
}

inline std::uint32_t allocated(std::uint32_t i) {
  return 8 * (1 + i % 3);
}

// CFA - rsp behind the prologue.
inline std::uint32_t frame_size(std::uint32_t i) {
  return 8 + 8 * static_cast<std::uint32_t>(saved_count(i)) + allocated(i);
}

// What a host hands to the agent; stays where it is, since the announcement points into it.
class Announcement {
 public:
  // `addr` has kSpacing bytes, which become the function's code.
  Announcement(std::uint32_t i, std::uint8_t* addr) {
    std::snprintf(name_.data(), name_.size(), "fn_%u", i);
    for (std::size_t at = 0; at < code_size(i); ++at) addr[at] = code_byte(i, at);
    fill_lines(i);
    fill_frame(i);
    code_.struct_size = sizeof code_;
    code_.addr = addr;
    code_.size = code_size(i);
    code_.room = kSpacing - code_size(i);
    code_.name = name_.data();
    code_.file = "/src/own.nib";
    code_.lines = lines_.data();
    code_.line_count = line_count(i);
    code_.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code_.frame = frame_.data();
    code_.frame_count = saved_count(i) + 1;
  }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  jitquill_code& code() { return code_; }
  jitquill_status announce() { return jitquill_code_loaded(&code_, nullptr); }

 private:
  void fill_lines(std::uint32_t i) {
    for (std::size_t row = 0; row < line_count(i); ++row) {
      const auto r = static_cast<std::uint32_t>(row);
      lines_[row] = {4 * r, line_number(i, row), r + 1, 0, row % 2 == 1 ? nullptr : line_file(i, row)};
    }
  }
  void fill_frame(std::uint32_t i) {
    std::uint32_t offset = 0;
    for (std::size_t n = 0; n < saved_count(i); ++n)
      frame_[n] = {++offset, JITQUILL_FRAME_PUSH, kSaved[n], 0, 0};
    frame_[saved_count(i)] = {offset + 4, JITQUILL_FRAME_ALLOCATE, 0, 0, allocated(i)};
  }

  std::array<char, 24> name_{};
  std::array<jitquill_line, kMaxLines> lines_{};
  std::array<jitquill_frame_event, kSaved.size() + 1> frame_{};
  jitquill_code code_{};
};

}  // namespace pattern
