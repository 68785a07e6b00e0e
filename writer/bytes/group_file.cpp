#include "writer/bytes/group_file.hpp"

#include <cerrno>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// A host whose timer fires faster than its file system answers would otherwise hold us here for ever.
constexpr int kMaxInterruptions = 1000;

template <class Call>
long finish(Call call) noexcept {
  long value = call();
  for (int i = 0; value == -EINTR && i < kMaxInterruptions; ++i) value = call();
  return value;
}

Status status_of(long error) noexcept {
  const bool no_space = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
  return no_space ? Status::kNoSpace : Status::kWriteFailed;
}

}  // namespace

void GroupFile::adopt(int descriptor) noexcept {
  close();
  descriptor_ = descriptor;
  size_ = 0;
}

Status GroupFile::append(std::span<const std::uint8_t> group) noexcept {
  if (!is_open()) return Status::kWriteFailed;
  std::span<const std::uint8_t> rest = group;
  while (!rest.empty()) {
    const long count = finish([&] { return raw::write(descriptor_, rest.data(), rest.size()); });
    if (count <= 0) {
      const bool torn = rest.size() != group.size();
      if (torn && !cut_back()) close();
      return status_of(count);
    }
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  size_ += group.size();
  return Status::kOk;
}

bool GroupFile::cut_back() noexcept {
  return finish([this] { return raw::truncate(descriptor_, size_); }) == 0 &&
         raw::seek_to(descriptor_, size_) == static_cast<long>(size_);
}

void GroupFile::close() noexcept {
  if (is_open()) raw::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace jitquill
