// Opens and closes a record of a jitdump: what all of them begin with, and their size. Private to
// writer/jitdump.
#pragma once

#include <cstdint>
#include <limits>

#include "writer/bytes/bytes.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::jitdump {

inline constexpr std::uint32_t kPrefixSize = 16;

// Puts the prefix of a record; end() fills in the size of what was put since.
class RecordScope {
 public:
  // | id u32 | total_size u32 | timestamp u64 |
  RecordScope(Bytes& out, RecordId id, std::uint64_t when_ns) noexcept : out_(out), start_(out.size()) {
    std::uint8_t* const room = out.reserve(kPrefixSize);
    if (room == nullptr) return;
    Cursor prefix(room);
    out.put_up_to(prefix.u32(static_cast<std::uint32_t>(id)).u32(0).u64(when_ns));
  }
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

  std::size_t size() const noexcept { return out_.size() - start_; }
  // What was put so far is the record's fixed part.
  bool is_at(std::size_t size_of_head) const noexcept { return out_.failed() || size() == size_of_head; }
  // False: too large for the format, and the record is taken out again.
  [[nodiscard]] bool end() noexcept {
    if (size() > std::numeric_limits<std::uint32_t>::max()) {
      out_.cut(start_);
      return false;
    }
    out_.patch_u32(start_ + 4, static_cast<std::uint32_t>(size()));
    return true;
  }

 private:
  Bytes& out_;
  std::size_t start_;
};

}  // namespace jitquill::jitdump
