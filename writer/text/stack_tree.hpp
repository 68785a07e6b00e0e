// Stacks that were seen, as a tree from their outermost frame on, and how often or how long each was.
//
// Context   as the sink that uses it. Allocates by nothrow operator new.
// Promises  memory is bounded: beyond kMostNodes stacks, or kMostDepth frames of one, what is further inside
//           is one frame called [more]. Nodes and sums survive their process by put_new(), put_all() and
//           apply(): values replace.
// Does not  know names: frames are numbers, equal where they are to be one line.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/bytes/number_table.hpp"

namespace jitquill {

class StackTree {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = NumberTable::kNone;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 17;
  static constexpr std::uint32_t kMostDepth = 256;
  static constexpr std::size_t kMostText = std::size_t{64} << 20;

  // Frames that are no functions.
  enum Frame : std::uint32_t {
    kFirstSpecial = 0xF0000000,
#define STACK_FRAME(name, text) name,
#include "writer/text/stack_frame.def"
#undef STACK_FRAME
  };

  struct Sums {
    std::uint64_t samples = 0;
    std::uint64_t ns = 0;
  };

  // kNone: no memory. Of a [more]: itself.
  std::uint32_t child(std::uint32_t node, std::uint32_t frame) noexcept;
  // Whether child() would be a frame of its own: of [more] it is not.
  bool is_more(std::uint32_t node) const noexcept {
    return node != kRoot && nodes_[node].frame == kMore;
  }
  std::uint32_t parent(std::uint32_t node) const noexcept {
    return nodes_[node].parent;
  }
  std::uint32_t frame(std::uint32_t node) const noexcept {
    return nodes_[node].frame;
  }
  std::size_t size() const noexcept {
    return nodes_.size();
  }
  bool add(std::uint32_t node, const Sums& sums) noexcept;

  // | new nodes: first, count, {parent, frame} | sums: count, {node, samples, ns} |, all uleb128.
  void put_new(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

  // A row of text for each node that has some of `sum`, in the order of names:
  //   outermost;...;innermost sum
  // `name_of` is asked for functions only. False: no memory.
  bool put_lines(std::uint64_t Sums::*sum, std::string_view (*name_of)(const void*, std::uint32_t),
                 const void* names, Bytes& out) noexcept;

 private:
  struct Node {
    std::uint32_t parent;
    std::uint32_t frame;
    Sums sums;
    std::uint32_t depth;
    bool is_touched;  // since the state was put
  };
  std::uint32_t make(std::uint32_t node, std::uint32_t frame) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;
  void put_sums(std::uint32_t node, Bytes& state) noexcept;
  void forget_changes() noexcept;

  GrowingArray<Node> nodes_;
  NumberTable children_;
  GrowingArray<std::uint32_t> touched_;
  std::size_t put_ = 0;  // of nodes_
};

}  // namespace jitquill
