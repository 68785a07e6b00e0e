// How many bytes the files of one folder may take together.
//
// Context   the thread that writes the files.
#pragma once

#include <cstdint>

namespace jitquill {

class Budget {
 public:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  // For files that are new from now on.
  void begin(std::uint64_t limit) noexcept {
    limit_ = limit;
    used_ = 0;
  }
  void set_limit(std::uint64_t limit) noexcept { limit_ = limit; }

  std::uint64_t used() const noexcept { return used_; }
  bool takes(std::uint64_t bytes) const noexcept { return bytes <= limit_ && used_ <= limit_ - bytes; }
  void use(std::uint64_t bytes) noexcept { used_ += bytes; }

 private:
  std::uint64_t limit_ = kUnlimited;
  std::uint64_t used_ = 0;
};

}  // namespace jitquill
