#include <algorithm>

#include "writer/bytes/growing_array.hpp"
#include "writer/oprofile/file_walk.hpp"

namespace jitquill::oprofile {
namespace {

class MapWalk {
 public:
  MapWalk(const FileView& view, FileVisitor& visitor) noexcept : view_(view), visitor_(visitor) {}

  void walk() noexcept {
    if (!read_sizes()) return visitor_.found(view_.data_at(), FileRule::kMapSize);
    if (const std::uint64_t end = pool_at_ + pool_size_; end != view_.size())
      visitor_.found(end, FileRule::kTail);
    if (name_at(0) != 0 || parent_at(0) != 0) visitor_.found(entry_at(0), FileRule::kPath);
    for (std::uint64_t i = 1; i < entries_; ++i) {
      if (is_empty(i)) continue;
      if (collect(i))
        tell(i);
      else
        visitor_.found(entry_at(i), FileRule::kPath);
    }
  }

 private:
  bool read_sizes() noexcept {
    const std::uint64_t w = view_.width(), at = view_.data_at();
    if (view_.size() - at < 2 * w) return false;
    entries_ = view_.number(at);
    if (entries_ == 0 || entries_ > (view_.size() - at - 2 * w) / (2 * w)) return false;
    pool_at_ = at + 2 * w + 2 * w * entries_;
    pool_size_ = view_.number(at + w);
    return pool_size_ <= view_.size() - pool_at_;
  }

  // The components from the last one on. False: there is no way to the root.
  bool collect(std::uint64_t index) noexcept {
    way_.clear();
    for (; index != 0; index = parent_at(index)) {
      if (index >= entries_ || is_empty(index) || way_.size() == kMostComponents) return false;
      const std::uint64_t name = name_at(index);
      if (name >= pool_size_) return false;
      const std::string_view rest = view_.text(pool_at_ + name, pool_size_ - name);
      const std::size_t size = rest.find('\0');
      if (size == rest.npos || !way_.push({rest.data(), size})) return false;
    }
    return true;
  }
  void tell(std::uint64_t index) noexcept {
    path_.clear();
    for (std::size_t i = way_.size(); i-- > 0;) path_.u8('/').raw(way_[i]);
    if (path_.failed()) return;
    visitor_.path(index, {reinterpret_cast<const char*>(path_.view().data()), path_.size()});
  }

  std::uint64_t entry_at(std::uint64_t i) const noexcept {
    return view_.data_at() + (2 + 2 * i) * view_.width();
  }
  std::uint64_t name_at(std::uint64_t i) const noexcept { return view_.number(entry_at(i)); }
  std::uint64_t parent_at(std::uint64_t i) const noexcept {
    return view_.number(entry_at(i) + view_.width());
  }
  // The name of an entry that a kill kept from becoming one is nobody's.
  bool is_empty(std::uint64_t i) const noexcept { return view_.is_nil(entry_at(i) + view_.width()); }

  const FileView& view_;
  FileVisitor& visitor_;
  std::uint64_t entries_ = 0;
  std::uint64_t pool_at_ = 0;
  std::uint64_t pool_size_ = 0;
  GrowingArray<std::string_view> way_;
  Bytes path_;
};

}  // namespace

void walk_hash_map(const FileView& view, FileVisitor& visitor) noexcept {
  MapWalk(view, visitor).walk();
}

}  // namespace jitquill::oprofile
