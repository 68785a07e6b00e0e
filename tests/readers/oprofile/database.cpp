#include "tests/readers/oprofile/source.hpp"

namespace oprofile_reader {
namespace {

// | total | current | root | page entries | 4 reserved | pages: count, left, (right, value, key) each |
class TreeReader {
 public:
  explicit TreeReader(Source& source)
      : source_(source), base_(source.file().database), width_(source.width()) {}

  void read() {
    if (!read_sizes()) return;
    reached_.resize(base_.current);
    if (base_.root) {
      last_link_ = word_at(2);
      walk(*base_.root, 1, true);
    } else if (base_.current != 0 && !source_.was_killed()) {
      source_.report(word_at(2), Rule::kTreeRoot, "no root, and pages in use");
    }
    for (const bool is_reached : reached_) base_.reached += is_reached ? 1 : 0;
    if (!source_.was_killed()) check_rest();
  }

 private:
  static constexpr std::uint64_t kMostDepth = 64;  // pages are at least half full: 2^64 keys have less

  std::uint64_t word_at(std::uint64_t i) const { return source_.header_size() + i * width_; }
  std::uint64_t page_words() const { return 3 * base_.page_entries + 2; }
  std::uint64_t page_at(std::uint64_t page) const { return word_at(8) + page * page_words() * width_; }
  std::uint64_t entry_at(std::uint64_t page, std::uint64_t i) const {
    return page_at(page) + (2 + 3 * i) * width_;
  }

  bool read_sizes() {
    if (source_.size() - source_.header_size() < 8 * width_) return wrong(0, Rule::kTreeSize, "no sizes");
    base_.total = source_.number(word_at(0));
    base_.current = source_.number(word_at(1));
    const Word root = source_.word(word_at(2));
    if (!root.is_nil) base_.root = root.value;
    base_.page_entries = source_.number(word_at(3));
    for (std::uint64_t i = 4; i < 8; ++i) {
      if (source_.number(word_at(i)) != 0) source_.report(word_at(i), Rule::kReserved, "is not 0");
    }
    if (base_.page_entries < 4 || base_.page_entries % 2 != 0 || base_.page_entries > source_.size())
      return wrong(3, Rule::kTreePage, std::to_string(base_.page_entries));
    const std::uint64_t room = source_.size() - page_at(0), page_size = page_words() * width_;
    if (base_.total > room / page_size) return wrong(0, Rule::kTreeSize, "pages are missing");
    base_.tail_size = room - base_.total * page_size;
    if (base_.tail_size != 0 && !source_.was_killed()) return wrong(0, Rule::kTreeSize, "a tail");
    if (base_.current > base_.total) return wrong(1, Rule::kTreeUse, std::to_string(base_.current));
    return true;
  }
  bool wrong(std::uint64_t word, Rule rule, std::string reason) {
    source_.report(word_at(word), rule, std::move(reason));
    return false;
  }

  // In order: what is left of the first entry, then each entry and what is right of it.
  void walk(std::uint64_t page, std::uint64_t depth, bool is_root) {
    if (page >= base_.current)
      return source_.report(last_link_, is_root ? Rule::kTreeRoot : Rule::kTreeLink, std::to_string(page));
    if (reached_[page] || depth > kMostDepth)
      return source_.report(page_at(page), Rule::kTreeTwice, "page " + std::to_string(page));
    reached_[page] = true;
    const std::uint64_t count = source_.number(page_at(page));
    const std::uint64_t least = is_root ? 1 : base_.page_entries / 2;
    if (count < least || count > base_.page_entries)
      return source_.report(page_at(page), Rule::kTreeCount, std::to_string(count));
    const bool is_leaf = descend(page_at(page) + width_, depth);
    for (std::uint64_t i = 0; i < count; ++i) {
      see(entry_at(page, i));
      if (descend(entry_at(page, i), depth) != is_leaf)
        source_.report(entry_at(page, i), Rule::kTreeDepth, "some links of a page are NIL");
    }
    if (is_leaf) see_leaf(page, depth);
    if (!source_.was_killed()) check_unused(page, count);
  }

  // True: there is nothing below.
  bool descend(std::uint64_t link, std::uint64_t depth) {
    const Word below = source_.word(link);
    if (below.is_nil) return true;
    last_link_ = link;
    walk(below.value, depth + 1, false);
    return false;
  }

  void see(std::uint64_t entry) {
    const std::uint64_t value = source_.number(entry + width_), key = source_.number(entry + 2 * width_);
    if (!base_.counts.empty() && key <= base_.counts.back().first)
      source_.report(entry + 2 * width_, Rule::kTreeOrder, std::to_string(key));
    base_.counts.emplace_back(key, value);
  }

  void see_leaf(std::uint64_t page, std::uint64_t depth) {
    if (base_.depth == 0) base_.depth = depth;
    if (base_.depth != depth) source_.report(page_at(page), Rule::kTreeDepth, std::to_string(depth));
  }

  void check_unused(std::uint64_t page, std::uint64_t count) {
    for (std::uint64_t i = count; i < base_.page_entries; ++i) {
      const std::uint64_t at = entry_at(page, i);
      if (!source_.word(at).is_nil || source_.number(at + width_) != 0 ||
          source_.number(at + 2 * width_) != 0)
        source_.report(at, Rule::kTreeUnused, "entry " + std::to_string(i) + " is not (NIL, 0, 0)");
    }
  }

  void check_rest() {
    for (std::uint64_t page = 0; page < base_.current; ++page) {
      if (!reached_[page]) source_.report(page_at(page), Rule::kTreeLost, "page " + std::to_string(page));
    }
    for (std::uint64_t page = base_.current; page < base_.total; ++page) {
      if (source_.number(page_at(page)) != 0 || !source_.word(page_at(page) + width_).is_nil)
        source_.report(page_at(page), Rule::kTreeUnused, "page " + std::to_string(page) + " is not blank");
      check_unused(page, 0);
    }
  }

  Source& source_;
  Database& base_;
  std::uint64_t width_;
  std::uint64_t last_link_ = 0;
  std::vector<bool> reached_;
};

}  // namespace

void read_database(Source& source) {
  TreeReader(source).read();
}

}  // namespace oprofile_reader
