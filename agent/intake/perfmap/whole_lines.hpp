// The lines of a file that grows: those that are whole already, from a place on.
//
// Context   [notify], under the intakes' lock; raw system calls only.
// Promises  a line is handed out once, when its newline is there. One that is longer than the room is passed
//           over, and said to be so.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/intake/memory.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::perfmap {

class WholeLines {
 public:
  explicit WholeLines(Block& room, std::uint64_t from = 0) noexcept : room_(room), at_(from) {}

  // Where the next line begins in the file.
  std::uint64_t at() const noexcept { return at_; }
  bool passed_over_any() const noexcept { return passed_over_; }

  // Reads on from at(). False if there is no whole line.
  bool read(int descriptor) noexcept {
    size_ = 0;
    const long got = raw::call(SYS_pread64, descriptor, room_.data(), room_.view().size(), at_);
    if (got <= 0) return false;
    const std::string_view text{reinterpret_cast<const char*>(room_.data()), static_cast<std::size_t>(got)};
    const std::size_t end = text.rfind('\n');
    if (end != std::string_view::npos) {
      size_ = end + 1;
    } else if (text.size() == room_.view().size()) {
      at_ += text.size();  // the rest of it will not make a line that anybody understands
      passed_over_ = true;
      return true;
    }
    return size_ != 0;
  }

  // Calls see(line, its place in the file) for each line that was read, until it returns false.
  template <class See>
  void for_each(See see) noexcept {
    std::string_view text{reinterpret_cast<const char*>(room_.data()), size_};
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::uint64_t here = at_;
      at_ += end + 1;
      if (!see(text.substr(0, end), here)) return;
      text.remove_prefix(end + 1);
    }
  }

 private:
  Block& room_;
  std::uint64_t at_;
  std::size_t size_ = 0;  // of the whole lines in the room
  bool passed_over_ = false;
};

}  // namespace jitquill::intake::perfmap
