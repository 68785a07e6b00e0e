// Functions of usual size as benchmarks announce them, and the folder where the agent writes of them.
//
// Context   benchmarks; ends the program if something fails, since a figure would be none.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "jitquill/jitquill.h"

namespace jitquill::bench {

// 500 bytes, 10 lines and the frame of a function with two saved registers.
class Announced {
 public:
  static constexpr std::size_t kCodeSize = 500;
  static constexpr std::size_t kSpacing = 1024;  // room behind each

  explicit Announced(std::size_t functions)
      : functions_(functions),
        memory_(functions * kSpacing, 0x90),
        arena_(static_cast<unsigned char*>(
            mmap(nullptr, kArenaSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (arena_ == MAP_FAILED) std::exit(1);
    for (std::uint32_t i = 0; i < 10; ++i) lines_.push_back({i * 50, 10 + i, 1, 0, nullptr});
    code_.struct_size = sizeof code_;
    code_.size = kCodeSize;
    code_.name = "module.function_of_usual_length";
    code_.file = "/home/somebody/project/module.nib";
    code_.lines = lines_.data();
    code_.line_count = lines_.size();
    code_.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code_.frame = frame_.data();
    code_.frame_count = frame_.size();
    code_.room = kSpacing - kCodeSize;
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

  // New code at new addresses, as an arena fills; or at those of the run before, as a tier is replaced. The
  // bytes are read from one place, as with a second mapping, so that only the addresses differ.
  void announce_all(bool at_new_addresses) {
    for (std::size_t i = 0; i < functions_; ++i) {
      unsigned char* const at = memory_.data() + i * kSpacing;
      ++made_;
      std::memcpy(at, &made_, sizeof made_);  // no two functions have the same bytes: equal ones are salted
      code_.bytes = at;
      code_.addr = arena_ + (at_new_addresses ? made_ : i) * kSpacing;
      if (jitquill_code_loaded(&code_, nullptr) != JITQUILL_OK) std::exit(1);
    }
  }

 private:
  static constexpr std::size_t kArenaSize = std::size_t{1} << 30;  // addresses only

  std::size_t functions_;
  std::vector<unsigned char> memory_;
  std::vector<jitquill_line> lines_;
  std::vector<jitquill_frame_event> frame_{
      {1, JITQUILL_FRAME_PUSH, 3, 0, 0},       {3, JITQUILL_FRAME_PUSH, 12, 0, 0},
      {10, JITQUILL_FRAME_ALLOCATE, 0, 0, 40}, {495, JITQUILL_FRAME_FREE, 0, 0, 40},
      {497, JITQUILL_FRAME_POP, 12, 0, 0},     {498, JITQUILL_FRAME_POP, 3, 0, 0}};
  jitquill_code code_{};
  std::uint64_t made_ = 0;
  unsigned char* arena_;
};

// The agent writes below it, from start to end of its life; then all of it is removed.
class OutputFolder {
 public:
  // `wanted`: options beside the folder's own.
  explicit OutputFolder(const std::string& wanted = "") {
    char name[] = "/tmp/jitquill-bench-XXXXXX";
    if (mkdtemp(name) == nullptr) std::exit(1);
    path_ = name;
    const std::string options = "dir=" + path_ + " " + wanted;
    const jitquill_start_options start{sizeof start, options.c_str()};
    if (jitquill_start(&start) != JITQUILL_OK) std::exit(1);
  }
  ~OutputFolder() {
    (void)jitquill_stop();
    std::filesystem::remove_all(path_);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace jitquill::bench
