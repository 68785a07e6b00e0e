// The kinds of binary files that `show` and `check` know by their first bytes, beside jitdump, whose check
// wants to know more than its bytes: the one table of both verbs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace jitquill::cli {

struct FileKind {
  bool (*is)(std::span<const std::uint8_t> bytes);
  // `limit`: lines, 0 = all.
  void (*show)(std::span<const std::uint8_t> bytes, std::uint64_t limit);
  // The exit code.
  int (*check)(const std::string& shown, std::span<const std::uint8_t> bytes, std::uint64_t limit);
};

// Null: none of these.
const FileKind* kind_of(std::span<const std::uint8_t> bytes);

// What is said of a file that is neither one of these nor a jitdump. `why`: what stands in the verb's way.
std::string words_of_other(std::span<const std::uint8_t> bytes, const std::string& why);

}  // namespace jitquill::cli
