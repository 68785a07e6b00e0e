// Puts the parts of an eventlog: header, blocks, records, end.
//
// Context   any; puts into the caller's buffer. Failed buffers are the caller's to see (Bytes::failed()).
// Promises  a record has exactly the layout that readers know by heart, whatever its values are; a text is
//           valid UTF-8. What does not fit into 65,535 bytes of payload is cut where a text can be, else
//           refused: nothing is put.
// Does not  know what an event means, nor which may stand where.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/utf8.hpp"
#include "writer/eventlog/event.hpp"
#include "writer/model/status.hpp"

namespace jitquill::eventlog {

inline constexpr std::size_t kMostPayload = 0xFFFF;
inline constexpr std::size_t kMostListed = 0xFF;  // of a kU32List: the first are kept
inline constexpr std::uint16_t kNoCapability = 0xFFFF;
inline constexpr std::size_t kRecordHeadSize = 2 + 8;
inline constexpr std::size_t kBlockMarkerSize = kRecordHeadSize + LayoutOf<Event::kBlockMarker>::kLeastSize;
static_assert(kBlockMarkerSize == 24);

// Declares all events of these owners that readers of the level know, and begins the data. Events of ours say
// what their fields are, as items of the extra information:
//   | kFieldItem u16 | size u16 | type, blank, name |
inline constexpr std::uint16_t kFieldItem = 0x4A51;  // far above those of others
void put_header(std::span<const Owner> owners, Bytes& out, Level level = Level::k9_12) noexcept;
// The end of the data.
inline void put_end(Bytes& out) noexcept {
  out.u16be(0xFFFF);
}

// Puts the values of one record's fields.
class RecordPutter {
 public:
  // `least`: bytes of all fields together if texts, lists and bytes were empty.
  RecordPutter(Event event, std::uint64_t when_ns, bool is_fixed, std::size_t least, Bytes& out) noexcept;

  void operator()(std::integral_constant<FieldType, FieldType::kU8>, std::uint8_t v) noexcept { out_.u8(v); }
  void operator()(std::integral_constant<FieldType, FieldType::kU16>, std::uint16_t v) noexcept {
    out_.u16be(v);
  }
  void operator()(std::integral_constant<FieldType, FieldType::kU32>, std::uint32_t v) noexcept {
    out_.u32be(v);
  }
  void operator()(std::integral_constant<FieldType, FieldType::kU64>, std::uint64_t v) noexcept {
    out_.u64be(v);
  }
  void operator()(std::integral_constant<FieldType, FieldType::kStr>, std::string_view v) noexcept;
  void operator()(std::integral_constant<FieldType, FieldType::kCStr>, std::string_view v) noexcept;
  void operator()(std::integral_constant<FieldType, FieldType::kStrs>,
                  std::span<const std::string_view> v) noexcept;
  void operator()(std::integral_constant<FieldType, FieldType::kBytes>,
                  std::span<const std::uint8_t> v) noexcept;
  void operator()(std::integral_constant<FieldType, FieldType::kU32List>,
                  std::span<const std::uint32_t> v) noexcept;

  // kTextCut: put, without the ends of texts or lists. kTooLarge: nothing is put.
  Status close() noexcept;

 private:
  void take(std::size_t size) noexcept { room_ -= size; }

  Bytes& out_;
  std::size_t start_;
  std::size_t payload_at_;
  std::size_t room_;  // left for fields of no fixed size
  bool is_fixed_;
  bool is_cut_ = false;
  bool is_too_large_ = false;
};

// One record. The values are of exactly the fields' types: std::uint16_t{3}, std::string_view("x").
template <Event kEvent, class... Values>
requires Fits<kEvent, Values...> Status put(std::uint64_t when_ns, Bytes& out, const Values&... values)
noexcept {
  using Layout = LayoutOf<kEvent>;
  RecordPutter putter(kEvent, when_ns, Layout::kIsFixed, Layout::kLeastSize, out);
  Layout::each([&](auto type, const auto& value) { putter(type, value); }, values...);
  return putter.close();
}

// The records of one capability, from its marker on. Until close() its size says 0, which readers take for a
// block that goes on to the next marker.
class Block {
 public:
  Block(std::uint64_t when_ns, std::uint16_t capability, Bytes& out) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void close(std::uint64_t end_ns) noexcept;

 private:
  Bytes& out_;
  std::size_t start_;
};

}  // namespace jitquill::eventlog
