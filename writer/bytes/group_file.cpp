#include "writer/bytes/group_file.hpp"

#include <cerrno>

#include "writer/bytes/growth.hpp"
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

// Daemons close every descriptor, and the next file that they open may get our number. One cheap question
// tells: no other file stands at our length, but by a chance of which the next write would take us away.
// (At 0, where ours is empty, every file that was just opened stands.)
inline bool stands_at(int descriptor, std::uint64_t size) noexcept {
  return size != 0 && raw::place_in(descriptor) == static_cast<long>(size);
}

}  // namespace

void GroupFile::adopt(int descriptor, Budget* budget) noexcept {
  descriptor_.adopt(descriptor);
  budget_ = budget;
  struct stat status {};
  (void)raw::status_of(descriptor, status);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void GroupFile::take(GroupFile& other) noexcept {
  descriptor_.take(other.descriptor_);
  size_ = other.size_;
  budget_ = other.budget_;
}

bool GroupFile::take_back(int descriptor) noexcept {
  if (!descriptor_.is_same_file(descriptor)) return false;
  descriptor_.adopt(descriptor);
  return cut_back();
}

// Where it does not stand there: it may have been moved, or have no place at all.
bool GroupFile::is_at_its_end() noexcept {
  if (!descriptor_.is_ours()) {
    descriptor_.forget();
    return false;
  }
  const long place = raw::seek_to(descriptor(), size_);
  return place == static_cast<long>(size_) || place == -ESPIPE;  // pipes have no place
}

Status GroupFile::append(std::span<const std::uint8_t> group) noexcept {
  if (!is_open()) return Status::kWriteFailed;
  if (!stands_at(descriptor(), size_) && !is_at_its_end()) return Status::kWriteFailed;
  if (budget_ != nullptr && !budget_->takes(group.size())) return Status::kFull;
  std::span<const std::uint8_t> rest = group;
  while (!rest.empty()) {
    const long count = finish([&] { return raw::write(descriptor(), rest.data(), rest.size()); });
    if (count <= 0) {
      const bool torn = rest.size() != group.size();
      if (torn && !cut_back()) close();
      return refused_growth(count);
    }
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  size_ += group.size();
  if (budget_ != nullptr) budget_->use(group.size());
  return Status::kOk;
}

bool GroupFile::cut_back() noexcept {
  return finish([this] { return raw::truncate(descriptor(), size_); }) == 0 &&
         raw::seek_to(descriptor(), size_) == static_cast<long>(size_);
}

}  // namespace jitquill
