// Where a process that drains has its lanes and its outputs, and what is in them.
//
// Context   tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>

#include "tests/readers/eventlog/reader.hpp"
#include "tests/readers/openj9/reader.hpp"
#include "tests/support/temp_folder.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::tests {

class PlainFolder final : public Folder {
 public:
  explicit PlainFolder(const std::string& path) : path_(path) {}
  int create(const char* name) noexcept override {
    if (std::strchr(name, '/') != nullptr)
      ::mkdir((path_ + "/" + std::string(name, std::strchr(name, '/'))).c_str(), 0700);
    return ::open((path_ + "/" + name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  void remove(const char*) noexcept override {}
  const char* path() const noexcept override { return path_.c_str(); }

 private:
  std::string path_;
};

// One process's two folders.
struct Place {
  static constexpr std::size_t kPoolSize = std::size_t{4} << 20;
  test_support::TempFolder lanes, output;

  std::span<std::uint8_t> map() const {
    const int file = ::open(lanes.file("lanes").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(file, kPoolSize), 0);
    void* const mapped = mmap(nullptr, kPoolSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return {static_cast<std::uint8_t*>(mapped), kPoolSize};
  }
  std::string calls() const { return test_support::read_text(output.file("calls")); }
  std::string counts() const { return test_support::read_text(output.file("counts")); }
  eventlog_reader::File eventlog() const { return eventlog_reader::read_file(output.file(".eventlog")); }
  openj9_reader::File openj9() const { return openj9_reader::read_file(output.file(".trc")); }
};

}  // namespace jitquill::tests
