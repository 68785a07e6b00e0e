// Making a sink's file that is called after the process, as perf knows them.
//
// Context   as the sink that uses it (writer/sink/sink.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "writer/bytes/group_file.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

// <stem><decimal pid><ending>; stem and ending together have at most kMostWords bytes.
class ProcessFileName {
 public:
  static constexpr std::size_t kMostWords = 21;

  ProcessFileName(std::string_view stem, std::uint32_t pid, std::string_view ending) noexcept;
  const char* text() const noexcept { return text_; }

 private:
  static constexpr std::size_t kMostDigits = 10;

  char text_[kMostWords + kMostDigits + 1];
};

// A new file for `file` to grow in, within `budget` (null = no limit). kNoSpace or kNoOutput: there is none,
// and `file` is as it was.
Status make_file(Folder& folder, const char* name, GroupFile& file, Budget* budget) noexcept;
inline Status make_file(Folder& folder, const char* name, GroupFile& file) noexcept {
  return make_file(folder, name, file, folder.budget());
}

}  // namespace jitquill
