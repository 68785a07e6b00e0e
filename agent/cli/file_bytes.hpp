// The bytes of a file, read whole: a mapping would fault where its process cuts it meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitquill::cli {

class FileBytes {
 public:
  explicit FileBytes(const std::string& path);

  std::string trouble() const;  // why it could not be read; empty = it was
  std::span<const std::uint8_t> view() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  int error_ = 0;
};

}  // namespace jitquill::cli
