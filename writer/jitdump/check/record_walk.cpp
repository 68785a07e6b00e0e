#include "writer/jitdump/check/record_walk.hpp"

#include <algorithm>

#include "writer/jitdump/record_scope.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::jitdump {

ByteReader RecordView::reader() const noexcept {
  return {body, offset + kPrefixSize};
}

LoadView load_view(const RecordView& record) noexcept {
  ByteReader body = record.reader();
  LoadView load;
  load.pid = body.u32();
  load.tid = body.u32();
  load.vma = body.u64();
  load.address = body.u64();
  load.code_size = body.u64();
  load.index = body.u64();
  load.has_fields = !body.failed();
  load.name = body.text();
  load.has_name = !body.failed();
  if (load.has_name) load.code = body.rest();
  return load;
}

MoveView move_view(const RecordView& record) noexcept {
  ByteReader body = record.reader();
  MoveView move;
  move.pid = body.u32();
  move.tid = body.u32();
  move.vma = body.u64();
  move.from = body.u64();
  move.to = body.u64();
  move.size = body.u64();
  move.index = body.u64();
  return move;
}

RecordWalk::RecordWalk(std::span<const std::uint8_t> file) noexcept : at_(file, 0) {
  ByteReader fields(file, 0);
  header_.magic = fields.u32();
  if (fields.failed() || header_.magic != kMagic) end_ = End::kWrongMagic;
  header_.version = fields.u32();
  header_.size = fields.u32();
  header_.machine = fields.u32();
  header_.pad = fields.u32();
  header_.pid = fields.u32();
  header_.when = fields.u64();
  header_.flags = fields.u64();
  if (end_ == End::kNotYet && fields.failed()) end_ = End::kNoHeader;
  if (end_ == End::kNotYet) at_ = fields;
}

std::optional<RecordView> RecordWalk::next() noexcept {
  if (end_ != End::kNotYet) return std::nullopt;
  if (at_.left() == 0) {
    end_ = End::kWhole;
    return std::nullopt;
  }
  ByteReader prefix = at_;
  RecordView record;
  record.offset = at_.offset();
  record.id = prefix.u32();
  record.size = prefix.u32();
  record.when = prefix.u64();
  const auto rest = at_.rest();
  constexpr std::size_t kIdAndSize = 8;  // fewer zeroes may be the beginning of a load
  if (rest.size() >= kIdAndSize &&
      std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; })) {
    end_ = End::kZeroes;
  } else if (prefix.failed() || (record.size >= kPrefixSize && record.size - kPrefixSize > prefix.left())) {
    end_ = End::kTorn;
  } else if (record.size < kPrefixSize ||
             (record.size == kPrefixSize && record.id != static_cast<std::uint32_t>(RecordId::kCodeClose))) {
    end_ = End::kNoSize;
  }
  if (end_ != End::kNotYet) return std::nullopt;
  record.body = prefix.take(record.size - kPrefixSize);
  at_ = prefix;
  return record;
}

}  // namespace jitquill::jitdump
