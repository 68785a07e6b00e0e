// The options that were taken, as words: for outputs that say what was in force.
//
// Context   any; plain values.
// Promises  of a key the last value; a NUL behind each word. What does not fit is left out.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "agent/base/text_pieces.hpp"

namespace jitquill {

class OptionWords {
 public:
  void set(std::string_view key, std::string_view value) noexcept {
    drop(key);
    const std::size_t size = key.size() + 1 + value.size() + 1;
    if (size > sizeof words_ - size_ || value.find('\0') != value.npos) return;
    put(key);
    words_[size_++] = '=';
    put(value);
    words_[size_++] = '\0';
  }
  std::string_view view() const noexcept { return {words_, size_}; }

 private:
  void put(std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(words_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void drop(std::string_view key) noexcept {
    for (std::size_t at = 0; at < size_;) {
      const std::size_t end = at + std::strlen(words_ + at) + 1;
      const std::string_view word(words_ + at, end - at - 1);
      if (first(word, key.size()) == key && word[key.size()] == '=') {
        std::memmove(words_ + at, words_ + end, size_ - end);
        size_ -= end - at;
      } else {
        at = end;
      }
    }
  }

  char words_[3072] = {};
  std::size_t size_ = 0;
};

}  // namespace jitquill
