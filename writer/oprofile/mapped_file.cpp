#include "writer/oprofile/mapped_file.hpp"

#include <sys/mman.h>

#include "writer/bytes/growth.hpp"

namespace jitquill {
namespace {

long allocate(int descriptor, std::size_t from, std::size_t to) noexcept {
  long done = -EINTR;
  while (done == -EINTR) done = raw::call(SYS_fallocate, descriptor, 0L, from, to - from);
  return done;
}

bool is_unknown_here(long error) noexcept {
  return error == -EOPNOTSUPP || error == -ENOSYS;
}

// Where the file system knows no fallocate(): blocks come when something is written.
Status write_zeroes(int descriptor, std::size_t from, std::size_t to) noexcept {
  static constexpr std::uint8_t kZeroes[4096] = {};
  while (from < to) {
    const std::size_t count = to - from < sizeof kZeroes ? to - from : sizeof kZeroes;
    const long done = raw::call(SYS_pwrite64, descriptor, kZeroes, count, from);
    if (done == -EINTR) continue;
    if (done <= 0) return refused_growth(done);
    from += static_cast<std::size_t>(done);
  }
  return Status::kOk;
}

}  // namespace

Status MappedFile::open(int descriptor, std::size_t size) noexcept {
  close();
  descriptor_.adopt(descriptor);
  Status status = take_blocks(size);
  if (status == Status::kOk) status = map(size);
  if (status != Status::kOk) descriptor_.close();
  return status;
}

// Whoever copied the file may have left holes in it.
Status MappedFile::open_again(int descriptor) noexcept {
  close();
  descriptor_.adopt(descriptor);
  struct stat file {};
  Status status = raw::status_of(descriptor, file) == 0 ? Status::kOk : Status::kWriteFailed;
  const auto size = static_cast<std::size_t>(file.st_size);
  if (status == Status::kOk && size == 0) status = Status::kBadArgument;
  if (status == Status::kOk) {
    const long done = allocate(descriptor, 0, size);
    if (done != 0 && !is_unknown_here(done)) status = refused_growth(done);
  }
  if (status == Status::kOk) status = map(size);
  if (status != Status::kOk) descriptor_.close();
  return status;
}

Status MappedFile::map(std::size_t size) noexcept {
  const long address = raw::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.number());
  if (raw::is_error(address)) return Status::kNoMemory;
  data_ = reinterpret_cast<std::uint8_t*>(address);
  size_ = size;
  return Status::kOk;
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

bool MappedFile::take_back(int descriptor) noexcept {
  if (!descriptor_.is_same_file(descriptor)) return false;
  descriptor_.adopt(descriptor);
  return true;
}

void MappedFile::hide_from_children() noexcept {
  if (data_ != nullptr) (void)raw::call(SYS_madvise, data_, size_, long{MADV_DONTFORK});
}

void MappedFile::forget() noexcept {
  data_ = nullptr;
  size_ = 0;
  descriptor_.close();
}

Status MappedFile::take_blocks(std::size_t size) noexcept {
  if (!descriptor_.is_ours()) return Status::kWriteFailed;
  const int file = descriptor_.number();
  const long done = allocate(file, size_, size);
  if (done == 0) return Status::kOk;
  const Status status = is_unknown_here(done) ? write_zeroes(file, size_, size) : refused_growth(done);
  if (status != Status::kOk) (void)raw::truncate(file, size_);
  return status;
}

}  // namespace jitquill
