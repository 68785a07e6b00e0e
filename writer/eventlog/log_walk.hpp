// Walks the records of an eventlog, from its header on.
//
// Context   tools. Allocates by nothrow operator new.
// Promises  never reads beyond the bytes, whatever they are; stops where a reader of the format would.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "writer/bytes/growing_array.hpp"
#include "writer/eventlog/record.hpp"

namespace jitquill::eventlog {

struct RecordView {
  std::uint64_t offset;  // in the file
  std::uint64_t when_ns;
  std::span<const std::uint8_t> payload;
  std::string_view description;  // of the file's own header
  std::uint16_t number;
  std::uint16_t declared_size;  // kVariable or bytes
  std::uint16_t capability;     // of the block it begins in
};

class LogWalk {
 public:
  enum class End : std::uint8_t {
    kNone,        // there is more
    kMarker,      // the end of data
    kNoMarker,    // the file's, between two records
    kTorn,        // the file's, inside a record
    kUndeclared,  // an event that the header has not
    kNoLog,       // the file does not begin as a log
    kBadHeader,   // its header is torn or none
    kNoMemory,
  };

  explicit LogWalk(std::span<const std::uint8_t> bytes) noexcept;

  std::optional<RecordView> next() noexcept;
  // Why next() answered none.
  End end() const noexcept { return end_; }
  std::uint64_t offset() const noexcept { return at_; }
  std::size_t types() const noexcept { return types_; }
  // Where the block at hand ends; 0 = outside of any, kOpen = it was not closed.
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};
  std::uint64_t block_end() const noexcept { return block_end_; }

 private:
  struct Type {
    std::uint64_t description_at = 0;
    std::uint32_t description_size = 0;
    std::uint16_t size = 0;
    bool is_declared = false;
  };

  bool has(std::uint64_t size) const noexcept { return bytes_.size() - at_ >= size; }
  std::uint64_t number(std::size_t size) noexcept;
  bool take_word(std::string_view word) noexcept;
  bool read_header() noexcept;
  bool read_type() noexcept;
  std::nullopt_t stop(End end, std::uint64_t at) noexcept;
  void begin_block(const RecordView& marker) noexcept;

  std::span<const std::uint8_t> bytes_;
  std::uint64_t at_ = 0;
  GrowingArray<Type> by_number_;
  std::size_t types_ = 0;
  std::uint64_t block_end_ = 0;
  std::uint16_t capability_ = kNoCapability;
  End end_ = End::kNone;
};

}  // namespace jitquill::eventlog
