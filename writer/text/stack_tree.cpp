#include "writer/text/stack_tree.hpp"

#include <algorithm>

#include "writer/bytes/decimal.hpp"

namespace jitquill {
namespace {

constexpr std::string_view kSpecials[] = {
    "",
#define STACK_FRAME(name, text) text,
#include "writer/text/stack_frame.def"
#undef STACK_FRAME
};

std::uint64_t key_of(std::uint32_t node, std::uint32_t frame) noexcept {
  return std::uint64_t{node} << 32 | frame;
}

// Walks the tree in the order of names, with the line so far.
class LineWriter {
 public:
  using NameOf = std::string_view (*)(const void*, std::uint32_t);

  LineWriter(NameOf name_of, const void* names, Bytes& out) noexcept
      : name_of_(name_of), names_(names), out_(out) {}

  std::string_view name(std::uint32_t frame) const noexcept {
    if (frame > StackTree::kFirstSpecial) return kSpecials[frame - StackTree::kFirstSpecial];
    return name_of_(names_, frame);
  }
  // A semicolon would be another frame.
  void enter(std::uint32_t frame) noexcept {
    if (line_.size() != 0) line_.u8(';');
    for (const char c : name(frame)) line_.u8(static_cast<std::uint8_t>(c == ';' ? ':' : c));
  }
  void leave(std::size_t size) noexcept { line_.cut(size); }
  std::size_t size() const noexcept { return line_.size(); }
  void put(std::uint64_t sum) noexcept {
    if (sum == 0) return;
    if (out_.size() > StackTree::kMostText)
      left_out_ += sum;
    else
      put_line(line_.view(), sum);
  }
  bool end() noexcept {
    constexpr std::string_view kLeftOut("[left out]");
    if (left_out_ != 0)
      put_line({reinterpret_cast<const std::uint8_t*>(kLeftOut.data()), kLeftOut.size()}, left_out_);
    return !line_.failed() && !out_.failed();
  }

 private:
  void put_line(std::span<const std::uint8_t> line, std::uint64_t sum) noexcept {
    out_.raw(line).u8(' ').raw(Decimal(sum).view()).u8('\n');
  }

  NameOf name_of_;
  const void* names_;
  Bytes& out_;
  Bytes line_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::uint32_t StackTree::make(std::uint32_t node, std::uint32_t frame) noexcept {
  if (nodes_.empty() && !nodes_.push({kRoot, kFirstSpecial, {}, 0, false})) return kNone;
  const std::uint32_t depth = nodes_[node].depth + 1;
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  if (!nodes_.push({node, frame, {}, depth, false})) return kNone;
  if (children_.put(key_of(node, frame), number)) return number;
  nodes_.pop();
  return kNone;
}

// Behind the limit there is room for one [more] of each node.
std::uint32_t StackTree::child(std::uint32_t node, std::uint32_t frame) noexcept {
  if (node != kRoot && nodes_[node].frame == kMore) return node;
  const std::uint32_t known = children_.find(key_of(node, frame));
  if (known != kNone) return known;
  const bool is_full = nodes_.size() >= kMostNodes || (node != kRoot && nodes_[node].depth >= kMostDepth);
  if (is_full && frame != kMore) return child(node, kMore);
  return make(node, frame);
}

bool StackTree::add(std::uint32_t node, const Sums& sums) noexcept {
  if (node >= nodes_.size()) return false;
  Node& at = nodes_[node];
  at.sums.samples += sums.samples;
  at.sums.ns += sums.ns;
  if (!at.is_touched) at.is_touched = touched_.push(node);
  return at.is_touched;
}

void StackTree::put_sums(std::uint32_t node, Bytes& state) noexcept {
  state.uleb128(node).uleb128(nodes_[node].sums.samples).uleb128(nodes_[node].sums.ns);
}

void StackTree::put_from(std::size_t first, Bytes& state) noexcept {
  const std::size_t from = std::max<std::size_t>(first, 1);  // the root is in every tree
  const std::size_t end = std::max(from, nodes_.size());
  state.uleb128(from).uleb128(end - from);
  for (std::size_t i = from; i < end; ++i) state.uleb128(nodes_[i].parent).uleb128(nodes_[i].frame);
  put_ = end;
}

void StackTree::put_new(Bytes& state) noexcept {
  put_from(put_, state);
  state.uleb128(touched_.size());
  for (const std::uint32_t node : touched_.all()) put_sums(node, state);
  forget_changes();
}

void StackTree::put_all(Bytes& state) noexcept {
  put_from(0, state);
  state.uleb128(nodes_.size());
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) put_sums(node, state);
  forget_changes();
}

void StackTree::forget_changes() noexcept {
  for (const std::uint32_t node : touched_.all()) nodes_[node].is_touched = false;
  touched_.clear();
}

bool StackTree::apply(ByteSource& state) noexcept {
  const std::uint64_t first = state.uleb128(), count = state.uleb128(2 * kMostNodes);
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const auto parent = static_cast<std::uint32_t>(state.uleb128(2 * kMostNodes));
    const auto frame = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
    const std::size_t size = std::max<std::size_t>(nodes_.size(), 1);
    if (state.failed() || parent >= size || first + i > size) return false;
    const bool is_known = first + i < size;
    if (!is_known && make(parent, frame) == kNone) return false;
  }
  const std::uint64_t sums = state.uleb128();
  for (std::uint64_t i = 0; i < sums && !state.failed(); ++i) {
    const std::uint64_t node = state.uleb128();
    const std::uint64_t samples = state.uleb128(), ns = state.uleb128();
    if (node == kRoot && nodes_.empty()) continue;
    if (state.failed() || node >= nodes_.size()) return false;
    nodes_[node].sums = {samples, ns};
  }
  put_ = nodes_.size();
  return !state.failed();
}

bool StackTree::put_lines(std::uint64_t Sums::*sum, std::string_view (*name_of)(const void*, std::uint32_t),
                          const void* names, Bytes& out) noexcept {
  LineWriter lines(name_of, names, out);
  // The children of each node lie together, from first[node] to first[node + 1].
  GrowingArray<std::uint32_t> order, first, next;
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  if (!first.grow_to(std::size_t{count} + 1, 0)) return false;
  for (std::uint32_t node = 1; node < count; ++node) {
    if (!order.push(node)) return false;
    ++first[nodes_[node].parent + 1];
  }
  for (std::uint32_t node = 0; node < count; ++node) first[node + 1] += first[node];
  std::ranges::sort(order.all(), [&](std::uint32_t a, std::uint32_t b) {
    if (nodes_[a].parent != nodes_[b].parent) return nodes_[a].parent < nodes_[b].parent;
    const int compared = lines.name(nodes_[a].frame).compare(lines.name(nodes_[b].frame));
    return compared != 0 ? compared < 0 : a < b;
  });
  GrowingArray<std::size_t> sizes;  // of the line in front of each open node
  std::uint32_t node = kRoot;
  if (!next.grow_to(count, 0)) return false;
  for (std::uint32_t i = 0; i < count; ++i) next[i] = first[i];
  while (count != 0) {
    if (next[node] != first[node + 1]) {
      node = order[next[node]++];
      if (!sizes.push(lines.size())) return false;
      lines.enter(nodes_[node].frame);
      lines.put(nodes_[node].sums.*sum);
    } else if (node == kRoot) {
      break;
    } else {
      lines.leave(sizes.back());
      sizes.pop();
      node = nodes_[node].parent;
    }
  }
  return lines.end();
}

}  // namespace jitquill
