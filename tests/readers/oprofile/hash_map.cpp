#include <algorithm>
#include <set>

#include "tests/readers/oprofile/source.hpp"

namespace oprofile_reader {
namespace {

bool is_prime(std::uint64_t number) {
  for (std::uint64_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) return false;
  }
  return number >= 2;
}

// | entries | pool size | (name, parent) of each entry | pool |
class MapReader {
 public:
  explicit MapReader(Source& source) : source_(source), width_(source.width()) {}

  void read() {
    if (!read_sizes()) return;
    check_root();
    for (std::uint64_t i = 1; i < size_; ++i) {
      const Word parent = parent_of(i);
      if (is_empty(i)) continue;
      if (!parent.is_nil && parent.value < size_ && !is_empty(parent.value)) {
        read_path(i);
      } else {
        report(i, Rule::kMapParent, "entry " + std::to_string(i));
      }
    }
  }

 private:
  bool read_sizes() {
    const std::uint64_t sizes_at = source_.header_size();
    if (source_.size() - sizes_at < 2 * width_) return wrong_size("no sizes");
    size_ = source_.file().map_size = source_.number(sizes_at);
    const std::uint64_t pool_size = source_.number(sizes_at + width_);
    entries_at_ = sizes_at + 2 * width_;
    const std::uint64_t room = source_.size() - entries_at_;
    if (size_ == 0 || size_ > room / (2 * width_)) return wrong_size("entries");
    const std::uint64_t pool_at = entries_at_ + 2 * width_ * size_;
    const std::uint64_t pool_room = source_.size() - pool_at;
    if (pool_room < pool_size || (pool_room > pool_size && !source_.was_killed())) return wrong_size("pool");
    if (!is_prime(size_)) source_.report(sizes_at, Rule::kMapPrime, std::to_string(size_));
    const auto pool = source_.rest(pool_at);
    pool_.assign(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(pool_size));
    return true;
  }
  bool wrong_size(const char* of) {
    source_.report(source_.header_size(), Rule::kMapSize, of);
    return false;
  }

  void check_root() {
    const std::optional<std::string> root = component(0);
    if (source_.number(entries_at_) != 0 || parent_of(0).value != 0 || !root || *root != "/")
      report(0, Rule::kMapRoot, "is not (0, 0), \"/\"");
  }

  void read_path(std::uint64_t index) {
    std::string path;
    std::uint64_t at = index, steps = 0;
    for (; at != 0; at = parent_of(at).value) {
      if (at >= size_) return;  // reported of that entry itself
      if (++steps > size_) return report(index, Rule::kMapCycle, "entry " + std::to_string(index));
      const std::optional<std::string> text = component(at);
      if (!text) return report(index, Rule::kMapName, "entry " + std::to_string(at));
      if (text->empty() || text->find('/') != text->npos)
        return report(index, Rule::kMapComponent, "'" + *text + "'");
      path = "/" + *text + path;
    }
    if (!paths_.insert(path).second) report(index, Rule::kMapTwice, path);
    source_.file().paths[index] = path;
  }

  std::optional<std::string> component(std::uint64_t index) {
    const Word place = source_.word(entries_at_ + 2 * width_ * index);
    if (place.is_nil || place.value >= pool_.size()) return std::nullopt;
    const std::size_t end = pool_.find('\0', place.value);
    if (end == pool_.npos) return std::nullopt;
    return pool_.substr(place.value, end - place.value);
  }
  Word parent_of(std::uint64_t index) { return source_.word(entries_at_ + (2 * index + 1) * width_); }
  bool is_empty(std::uint64_t index) {
    const bool has_name = source_.number(entries_at_ + 2 * width_ * index) != 0;
    return parent_of(index).is_nil && (!has_name || source_.was_killed());
  }
  void report(std::uint64_t index, Rule rule, std::string reason) {
    source_.report(entries_at_ + 2 * width_ * index, rule, std::move(reason));
  }

  Source& source_;
  std::uint64_t width_;
  std::uint64_t size_ = 0;
  std::uint64_t entries_at_ = 0;
  std::string pool_;
  std::set<std::string> paths_;
};

}  // namespace

void read_hash_map(Source& source) {
  MapReader(source).read();
}

}  // namespace oprofile_reader
