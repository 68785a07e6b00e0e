// Folded stacks as a tree: a line for each stack, its frames with semicolons between, a space, a number.
//
// Promises  equal stacks are one, siblings are in the order of their names, whatever order the lines had.
//           What is no such file is one line of trouble, which names the line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitquill::cli {

struct FoldedFrame {
  std::uint32_t depth;  // 0 = outermost
  std::uint32_t name;   // of FoldedFile::names
  std::uint64_t own;    // amount that is in no frame inside
};

struct FoldedFile {
  std::vector<std::string> names;   // UTF-8, without control characters
  std::vector<FoldedFrame> frames;  // as a walk from the outermost frames meets them
  std::string trouble;              // empty: there is none
};

FoldedFile read_folded(std::span<const std::uint8_t> bytes);

}  // namespace jitquill::cli
