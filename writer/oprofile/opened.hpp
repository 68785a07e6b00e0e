// What became of going on in a file of before, and who looks whether it can be done.
//
// Context   any. Allocates as file_walk.hpp does.
#pragma once

#include "writer/model/status.hpp"
#include "writer/oprofile/file_walk.hpp"

namespace jitquill::oprofile {

// kBadArgument: the file breaks that rule, at this byte.
struct Opened {
  Status status = Status::kOk;
  FileRule rule = FileRule::kHeader;
  std::uint64_t at = 0;
};

// What readers stumble over, not what a kill leaves.
class FirstFault final : public FileVisitor {
 public:
  // A file of this kind whose header is in order, or a fault.
  void look_at(std::span<const std::uint8_t> file, Kind kind, FileView& view) noexcept;
  void found(std::uint64_t at, FileRule rule) override;
  void tree(const TreeSizes& sizes) override { sizes_ = sizes; }
  const Opened& opened() const noexcept { return opened_; }
  const TreeSizes& sizes() const noexcept { return sizes_; }  // of a database

 private:
  Opened opened_;
  TreeSizes sizes_{};
};

}  // namespace jitquill::oprofile
