// Walks a file of the OProfile ABI, whatever is in it, and says what it has and what its readers stumble
// over.
//
// Context   tools. Allocates by nothrow operator new.
// Promises  reads nothing outside of the file, and ends: each page and each entry is looked at once, and a
//           path has at most kMostComponents. What lies behind something that cannot be read is left out.
// Does not  read words of more than Words::kMostWidth bytes. Numbers beyond 64 bits become the greatest of
//           those.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "writer/model/rule_text.hpp"
#include "writer/oprofile/header.hpp"
#include "writer/oprofile/streams.hpp"

namespace jitquill::oprofile {

enum class FileRule : std::uint8_t {
#define FILE_RULE(id, name, weight, readers) id,
#include "writer/oprofile/file_rule.def"
#undef FILE_RULE
};

const RuleText& text_of(FileRule rule) noexcept;

struct TreeSizes {
  std::uint64_t pages;
  std::uint64_t in_use;
  std::uint64_t root;  // kNoPage: none
  std::uint64_t page_entries;
};

class FileVisitor {
 public:
  virtual void note(std::uint64_t, const Mapping&, std::uint64_t /*type*/) {}
  virtual void buffer(std::uint64_t, std::uint64_t /*cpu*/, std::uint64_t /*state*/,
                      std::uint64_t /*samples*/) {}
  virtual void sample(std::uint64_t, const Sample&) {}
  virtual void path(std::uint64_t /*index*/, std::string_view) {}
  virtual void tree(const TreeSizes&) {}
  virtual void count(std::uint64_t, std::uint64_t /*key*/, std::uint64_t /*count*/) {}
  // `at`, as the first argument of the others: byte of the file.
  virtual void found(std::uint64_t at, FileRule rule) = 0;

 protected:
  ~FileVisitor() = default;
};

inline constexpr std::size_t kMostComponents = 4096;

bool is_file(std::span<const std::uint8_t> bytes) noexcept;  // by its magic
void walk_file(std::span<const std::uint8_t> bytes, FileVisitor& visitor) noexcept;

// The parts of the above, for a header that is in order.
class FileView {
 public:
  // False: it is none that can be read.
  bool read_header(std::span<const std::uint8_t> bytes) noexcept;

  Kind kind() const noexcept { return kind_; }
  const Words& words() const noexcept { return words_; }
  std::size_t width() const noexcept { return words_.width(); }
  std::uint64_t size() const noexcept { return bytes_.size(); }
  std::uint64_t data_at() const noexcept { return header_size(words_); }
  // Within the file: who asks has looked.
  bool is_nil(std::uint64_t at) const noexcept { return words_.load(bytes_.data() + at) == words_.nil(); }
  std::uint64_t number(std::uint64_t at) const noexcept;
  std::string_view text(std::uint64_t at, std::uint64_t size) const noexcept;

 private:
  std::span<const std::uint8_t> bytes_;
  Words words_;
  Kind kind_ = Kind::kNotes;
};

void walk_view(const FileView& view, FileVisitor& visitor) noexcept;
void walk_streams(const FileView& view, FileVisitor& visitor) noexcept;
void walk_hash_map(const FileView& view, FileVisitor& visitor) noexcept;
void walk_database(const FileView& view, FileVisitor& visitor) noexcept;

}  // namespace jitquill::oprofile
