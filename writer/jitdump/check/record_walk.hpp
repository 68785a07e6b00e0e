// Goes through the records of a jitdump file, without a judgement of what is in them.
//
// Context   any; no allocation. What it hands out points into the file.
// Promises  never reads outside of the file, whatever is in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "writer/jitdump/check/byte_reader.hpp"

namespace jitquill::jitdump {

struct HeaderView {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t size = 0;
  std::uint32_t machine = 0;
  std::uint32_t pad = 0;
  std::uint32_t pid = 0;
  std::uint64_t when = 0;
  std::uint64_t flags = 0;
};

struct RecordView {
  std::uint64_t offset = 0;
  std::uint32_t id = 0;
  std::uint32_t size = 0;  // with the prefix
  std::uint64_t when = 0;
  std::span<const std::uint8_t> body;

  ByteReader reader() const noexcept;
};

// What is read off a load; empty where the record is too short for it.
struct LoadView {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t vma = 0;
  std::uint64_t address = 0;
  std::uint64_t code_size = 0;
  std::uint64_t index = 0;
  std::string_view name;
  std::span<const std::uint8_t> code;  // all that is behind the name
  bool has_fields = false;
  bool has_name = false;
};
LoadView load_view(const RecordView& record) noexcept;

struct MoveView {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t vma = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t size = 0;
  std::uint64_t index = 0;
};
MoveView move_view(const RecordView& record) noexcept;

class RecordWalk {
 public:
  enum class End : std::uint8_t {
    kNotYet,
    kWhole,      // the file ends where a record does
    kTorn,       // inside a record
    kNoSize,     // a size too small for a body: readers stop here
    kZeroes,     // nothing but zeroes to the end
    kNoHeader,   // shorter than a header
    kWrongMagic  // no jitdump, or of the other byte order
  };

  explicit RecordWalk(std::span<const std::uint8_t> file) noexcept;

  const HeaderView& header() const noexcept { return header_; }
  // Nothing at the end, which end() is then.
  std::optional<RecordView> next() noexcept;
  End end() const noexcept { return end_; }
  // Where the next record begins, or where the walk ended.
  std::uint64_t offset() const noexcept { return at_.offset(); }

 private:
  ByteReader at_;
  HeaderView header_;
  End end_ = End::kNotYet;
};

}  // namespace jitquill::jitdump
