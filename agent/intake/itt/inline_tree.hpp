// The methods that were inlined into one method's code, as ITT emitters report them: each after the method,
// in any order, and with the id of the method or inlined method that it was inlined into.
//
// Context   [notify], under the intakes' lock.
// Promises  at most kMost inlined methods; one whose parent was never reported, or that lies outside the
//           method's code, is left out. What inlining() gives lives until reset().
#pragma once

#include <cstdint>

#include "agent/intake/itt/report.hpp"
#include "agent/intake/memory.hpp"
#include "writer/model/code.hpp"

namespace jitquill::intake::itt {

class InlineTree {
 public:
  static constexpr std::size_t kMost = 1024;

  // Of a method whose code is [address, address + size). Takes the lines out of `report`.
  void begin(Report& report) noexcept;
  // Takes name, file and lines out of the report. False if it can have no place here.
  bool add(Report& report) noexcept;
  // Everything is forgotten and its memory given back.
  void reset() noexcept;

  bool has_any() const noexcept { return nodes_.size() != 0; }
  std::uint64_t address() const noexcept { return address_; }
  std::uint32_t size() const noexcept { return size_; }
  std::span<const Line> lines() const noexcept { return lines_.all(); }

  // `name` and `file` are the method's own. Empty if there is no memory.
  Inlining inlining(const char* name, const char* file) noexcept;

 private:
  struct Node {
    std::uint32_t id;
    std::uint32_t parent;
    std::uint32_t from;  // offsets in the method's code
    std::uint32_t to;
    char* name;  // the intakes' memory
    char* file;
    Growing<Line> lines;  // offsets from `from`
    bool is_placed;
  };

  bool is_placed(std::uint32_t id) const noexcept;
  bool put_method(const char* name, const char* file) noexcept;
  bool put_node(const Node& node) noexcept;
  bool place_all() noexcept;
  std::size_t row_at(std::uint32_t offset) const noexcept;
  bool put_row(std::size_t at, std::uint32_t offset, const InlinePosition& position) noexcept;

  std::uint32_t id_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t size_ = 0;
  Growing<Line> lines_ = {};
  Growing<Node> nodes_ = {};
  Growing<InlinePosition> positions_ = {};
  Growing<InlineRow> rows_ = {};  // offsets ascend, the first is 0
};

}  // namespace jitquill::intake::itt
