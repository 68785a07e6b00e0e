#include "agent/cli/folded_file.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "agent/cli/words.hpp"
#include "writer/bytes/utf8.hpp"

namespace jitquill::cli {
namespace {

// A page's numbers are doubles.
constexpr std::uint64_t kMostAmount = std::uint64_t{1} << 53;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

class FoldedReader {
 public:
  explicit FoldedReader(std::string_view text) : rest_(text) {}

  FoldedFile read() {
    while (!rest_.empty() && file_.trouble.empty()) read_line(take_line());
    if (file_.trouble.empty() && nodes_.size() == 1)
      file_.trouble = "no stacks in it; of several processes, `latest` leads to the newest alone";
    if (file_.trouble.empty()) put_in_order();
    return std::move(file_);
  }

 private:
  struct Node {
    std::uint32_t name = kNone;
    std::uint64_t own = 0;
    std::vector<std::uint32_t> inside;
  };

  std::string_view take_line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_number_;
    return line;
  }
  void refuse(const char* why) { file_.trouble = "line " + std::to_string(line_number_) + ": " + why; }

  void read_line(std::string_view line) {
    if (line.empty()) return;
    const std::size_t space = line.rfind(' ');
    if (space == line.npos || space == 0)
      return refuse("no stack with a number behind a space; is this a folded file?");
    const std::string_view digits = line.substr(space + 1);
    std::uint64_t amount = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
    if (digits.empty() || read.ptr != digits.data() + digits.size() || read.ec == std::errc::invalid_argument)
      return refuse("no whole number behind the last space; is this a folded file?");
    if (read.ec != std::errc{} || amount > kMostAmount || sum_ > kMostAmount - amount)
      return refuse("the numbers add up to more than 2^53");
    sum_ += amount;
    add(line.substr(0, space), amount);
  }
  // An empty component is left out: some tools end a stack with a semicolon.
  void add(std::string_view stack, std::uint64_t amount) {
    std::uint32_t node = 0;
    while (!stack.empty()) {
      const std::size_t end = std::min(stack.find(';'), stack.size());
      if (end != 0) node = child(node, name_of(stack.substr(0, end)));
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
    if (node == 0) return refuse("a stack without frames");
    nodes_[node].own += amount;
  }
  std::uint32_t name_of(std::string_view text) {
    const auto known = numbers_.find(std::string(text));
    if (known != numbers_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(file_.names.size());
    Bytes shown;
    (void)put_utf8(shown, text, ~std::size_t{0});
    file_.names.push_back(plain({reinterpret_cast<const char*>(shown.view().data()), shown.size()}));
    numbers_.emplace(text, number);
    return number;
  }
  std::uint32_t child(std::uint32_t node, std::uint32_t name) {
    const std::uint64_t key = std::uint64_t{node} << 32 | name;
    const auto [at, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_[node].inside.push_back(at->second);
      nodes_.push_back({name, 0, {}});
    }
    return at->second;
  }

  // The last of `open` is the next to be put.
  void put_in_order() {
    struct Open {
      std::uint32_t node;
      std::uint32_t depth;
    };
    std::vector<Open> open;
    const auto open_inside = [&](std::uint32_t node, std::uint32_t depth) {
      std::vector<std::uint32_t>& inside = nodes_[node].inside;
      std::ranges::sort(inside, std::ranges::greater{},
                        [&](std::uint32_t i) -> const std::string& { return file_.names[nodes_[i].name]; });
      for (const std::uint32_t i : inside) open.push_back({i, depth});
    };
    open_inside(0, 0);
    while (!open.empty()) {
      const Open next = open.back();
      open.pop_back();
      file_.frames.push_back({next.depth, nodes_[next.node].name, nodes_[next.node].own});
      open_inside(next.node, next.depth + 1);
    }
  }

  std::string_view rest_;
  FoldedFile file_;
  std::uint64_t line_number_ = 0;
  std::uint64_t sum_ = 0;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace

FoldedFile read_folded(std::span<const std::uint8_t> bytes) {
  return FoldedReader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).read();
}

}  // namespace jitquill::cli
