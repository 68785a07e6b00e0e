// A folder for a sink's files that can be made to fail; gone when the test ends.
//
// Context   tests of sinks.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "writer/sink/sink.hpp"

namespace jitquill {

class TemporaryFolder final : public Folder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "jitquill-sink-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  int create(const char* name) noexcept override {
    if (error != 0) return -error;
    const char* const file = device != nullptr ? device : "";
    const std::string at = device != nullptr ? file : (path / name).string();
    return open(at.c_str(), flags | (device != nullptr ? 0 : O_CREAT | O_EXCL) | O_CLOEXEC, 0600);
  }
  void remove(const char* name) noexcept override { std::filesystem::remove(path / name); }
  bool remove_empty(const char* name) noexcept override {
    return is_shared && read(name).empty() && std::filesystem::remove(path / name);
  }
  bool has(const char* name) const { return std::filesystem::exists(path / name); }
  std::string read(const char* name) const {
    std::ifstream file(path / name, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path path;
  int flags = O_RDWR;
  int error = 0;
  bool is_shared = false;
  const char* device = nullptr;  // opened in place of a new file
};

}  // namespace jitquill
