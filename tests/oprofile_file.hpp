// A database's file for tests, in memory, and what is in it: by the reader that shares nothing with the
// writer.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace jitquill::tests {

class DatabaseFile {
 public:
  DatabaseFile() : descriptor_(::memfd_create("database", MFD_CLOEXEC)) {}
  ~DatabaseFile() { ::close(descriptor_); }
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;

  // For the writer, which closes it.
  int handle() const { return ::dup(descriptor_); }
  void put(const std::vector<std::uint8_t>& all) const {
    if (::pwrite(descriptor_, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) std::abort();
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all;
    read_into(all);
    return all;
  }
  void read_into(std::vector<std::uint8_t>& all) const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) status.st_size = 0;
    all.resize(static_cast<std::size_t>(status.st_size));
    const auto done = ::pread(descriptor_, all.data(), all.size(), 0);
    all.resize(done < 0 ? 0 : static_cast<std::size_t>(done));
  }

 private:
  int descriptor_;
};

}  // namespace jitquill::tests
