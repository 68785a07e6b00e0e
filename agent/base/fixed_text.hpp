// A text of bounded length, ended by NUL, that needs no allocation: of options, paths, messages.
//
// Context   any; plain values.
// Promises  constant-initialized. What does not fit is refused, not cut.
#pragma once

#include <cstddef>
#include <string_view>

namespace jitquill {

template <std::size_t kCapacity>
class FixedText {
 public:
  bool set(std::string_view text) noexcept {
    if (text.size() >= kCapacity || text.find('\0') != text.npos) return false;
    size_ = text.size();
    if (size_ != 0) __builtin_memcpy(data_, text.data(), size_);
    data_[size_] = '\0';
    return true;
  }
  std::string_view view() const noexcept { return {data_, size_}; }
  const char* c_str() const noexcept { return data_; }

 private:
  char data_[kCapacity] = {};
  std::size_t size_ = 0;
};

}  // namespace jitquill
