#include "writer/oprofile/mapped_file.hpp"

#include <sys/mman.h>

namespace jitquill {
namespace {

Status status_of_error(long error) noexcept {
  const bool is_room = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
  return is_room ? Status::kNoSpace : Status::kWriteFailed;
}

// Where the file system knows no fallocate(): blocks come when something is written.
Status write_zeroes(int descriptor, std::size_t from, std::size_t to) noexcept {
  static constexpr std::uint8_t kZeroes[4096] = {};
  while (from < to) {
    const std::size_t count = to - from < sizeof kZeroes ? to - from : sizeof kZeroes;
    const long done = raw::call(SYS_pwrite64, descriptor, kZeroes, count, from);
    if (done == -EINTR) continue;
    if (done <= 0) return status_of_error(done);
    from += static_cast<std::size_t>(done);
  }
  return Status::kOk;
}

}  // namespace

Status MappedFile::open(int descriptor, std::size_t size) noexcept {
  close();
  descriptor_.adopt(descriptor);
  Status status = take_blocks(size);
  if (status == Status::kOk) {
    const long address = raw::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
    if (raw::is_error(address)) {
      status = Status::kNoMemory;
    } else {
      data_ = reinterpret_cast<std::uint8_t*>(address);
      size_ = size;
    }
  }
  if (status != Status::kOk) descriptor_.close();
  return status;
}

Status MappedFile::enlarge(std::size_t size) noexcept {
  if (size <= size_) return Status::kOk;
  if (const Status status = take_blocks(size); status != Status::kOk) return status;
  const long address = raw::call(SYS_mremap, data_, size_, size, long{MREMAP_MAYMOVE});
  if (raw::is_error(address)) {
    (void)raw::truncate(descriptor_.number(), size_);
    return Status::kNoMemory;
  }
  data_ = reinterpret_cast<std::uint8_t*>(address);
  size_ = size;
  return Status::kOk;
}

Status MappedFile::cut(std::size_t size) noexcept {
  if (!descriptor_.is_ours() || raw::truncate(descriptor_.number(), size) != 0) return Status::kWriteFailed;
  return Status::kOk;
}

void MappedFile::close() noexcept {
  if (data_ != nullptr) (void)raw::unmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
  descriptor_.close();
}

Status MappedFile::take_blocks(std::size_t size) noexcept {
  if (!descriptor_.is_ours()) return Status::kWriteFailed;
  const int file = descriptor_.number();
  long done = -EINTR;
  while (done == -EINTR) done = raw::call(SYS_fallocate, file, 0L, size_, size - size_);
  if (done == 0) return Status::kOk;
  Status status = status_of_error(done);
  if (done == -EOPNOTSUPP || done == -ENOSYS) status = write_zeroes(file, size_, size);
  if (status != Status::kOk) (void)raw::truncate(file, size_);
  return status;
}

}  // namespace jitquill
