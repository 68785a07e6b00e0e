// The shared memory of lanes, made by hand from the layout's comments (agent/lanes/layout.hpp): what a
// process would have left there.
//
// Context   tests and benches.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/lanes/layout.hpp"

namespace test_support {

class LanePool {
 public:
  using Kind = jitquill::lanes::RecordKind;

  // `memory` is zero, and stays for as long as this lives.
  explicit LanePool(std::span<std::uint8_t> memory) : memory_(memory) {
    namespace l = jitquill::lanes;
    l::PoolHeader& pool = header();
    pool.magic = l::kPoolMagic;
    pool.version = l::kPoolVersion;
    pool.used_bytes = l::kChunksAt;
    pool.last_look_ticks = 1;
  }

  jitquill::lanes::PoolHeader& header() {
    return *reinterpret_cast<jitquill::lanes::PoolHeader*>(memory_.data());
  }
  jitquill::lanes::Lane& lane(std::uint32_t row) {
    return reinterpret_cast<jitquill::lanes::Lane*>(memory_.data() + jitquill::lanes::kLaneTableAt)[row];
  }
  jitquill::lanes::ChunkHeader& chunk(std::uint64_t offset) {
    return *reinterpret_cast<jitquill::lanes::ChunkHeader*>(memory_.data() + offset);
  }
  std::span<std::uint8_t> memory() const { return memory_; }

  // Where later chunks of all threads say that the stacks are.
  void set_stacks(std::uint64_t low, std::uint64_t high, std::uint64_t signal_low = 0,
                  std::uint64_t signal_high = 0) {
    stacks_[0] = low;
    stacks_[1] = high;
    stacks_[2] = signal_low;
    stacks_[3] = signal_high;
  }

  std::uint32_t begin_thread(std::uint32_t tid, const char* name = "nib") {
    namespace l = jitquill::lanes;
    const std::uint32_t row = header().lane_count++;
    lane(row).tid = tid;
    lane(row).number = threads_++;
    lane(row).state = l::LaneState::kLive;
    names_[row] = name;
    return row;
  }
  void end_thread(std::uint32_t row) { lane(row).state = jitquill::lanes::LaneState::kDead; }

  void put(std::uint32_t row, Kind kind, std::uint64_t what, std::uint64_t slot_address,
           std::uint64_t ticks) {
    namespace l = jitquill::lanes;
    const std::uint32_t slot = l::slot_of(slot_address);
    put_words(row, l::when_word(ticks, slot), l::what_word(kind, what, slot), ticks);
  }
  void put_key(std::uint32_t row, Kind kind, std::uint64_t id, std::uint32_t key, std::uint64_t ticks) {
    namespace l = jitquill::lanes;
    put_words(row, l::when_word(ticks, key), l::what_word(kind, id, key), ticks);
  }
  // Nothing was stored where this one was reserved.
  void put_hole(std::uint32_t row, std::uint64_t ticks) { (void)reserve(row, 1, ticks); }
  void post(std::uint32_t row, std::uint32_t event, std::span<const std::uint8_t> payload,
            std::uint64_t ticks) {
    namespace l = jitquill::lanes;
    const std::size_t more = (payload.size() + l::kMoreBytes - 1) / l::kMoreBytes;
    if (const std::size_t room = room_in_block(row); room < more + 1 && room != 0) {
      put_words(row, l::when_word(ticks, 0) | 1, l::what_word(Kind::kPad, 0, 0), ticks);
      if (room > 1) (void)reserve(row, room - 1, ticks);  // nothing is stored in what the pad stands for
    }
    l::Record* const at = reserve(row, more + 1, ticks);
    for (std::size_t i = 0; i < more; ++i) {
      std::uint8_t bytes[16] = {};
      const std::size_t from = i * l::kMoreBytes;
      std::memcpy(bytes, payload.data() + from, std::min(l::kMoreBytes, payload.size() - from));
      std::uint64_t first, rest;
      std::memcpy(&first, bytes, 8);
      std::memcpy(&rest, bytes + 7, 8);
      at[i + 1].what = l::what_word(Kind::kMore, rest, static_cast<std::uint32_t>(more - i - 1) << 16);
      at[i + 1].when = (first & ~(std::uint64_t{0xFF} << 56)) | l::kMoreMark;
    }
    at->what = l::what_word(Kind::kPost, event | std::uint64_t{payload.size()} << 16, 0);
    at->when = l::when_word(ticks, 0);
  }
  void post_stack(std::uint32_t row, std::uint64_t low, std::uint64_t high, std::uint64_t ticks) {
    std::uint8_t payload[16];
    std::memcpy(payload, &low, 8);
    std::memcpy(payload + 8, &high, 8);
    post(row, jitquill::lanes::kPostStack, payload, ticks);
  }
  void put_words(std::uint32_t row, std::uint64_t when, std::uint64_t what, std::uint64_t ticks) {
    jitquill::lanes::Record* const at = reserve(row, 1, ticks);
    at->what = what;
    at->when.store(when, std::memory_order_release);
  }
  // Of a block, until the next needs its header: 0 = none was begun.
  std::size_t room_in_block(std::uint32_t row) const {
    namespace l = jitquill::lanes;
    const auto at = cursors_.find(row);
    if (at == cursors_.end() || at->second.at % l::kBlockSize == 0) return 0;
    return (l::kBlockSize - at->second.at % l::kBlockSize) / sizeof(l::Record);
  }
  std::vector<std::uint64_t> chunks(std::uint32_t row) const {
    const auto at = chunks_.find(row);
    return at == chunks_.end() ? std::vector<std::uint64_t>{} : at->second;
  }
  // Of the lane's next chunk: what found no room before it.
  void lose(std::uint32_t row, std::uint64_t count, std::uint64_t since_ticks) {
    lane(row).lost = count;
    lane(row).lost_since_ticks = since_ticks;
  }

 private:
  struct Cursor {
    std::uint64_t chunk;
    std::uint32_t at;
    std::uint32_t size;
  };

  jitquill::lanes::Record* reserve(std::uint32_t row, std::size_t count, std::uint64_t ticks) {
    namespace l = jitquill::lanes;
    Cursor& cursor = cursors_[row];
    if (cursor.size == 0 || cursor.at >= cursor.size) open_chunk(row, cursor, ticks);
    if (cursor.at % l::kBlockSize < l::kBlockHeaderSize) cursor.at += l::kBlockHeaderSize;
    auto* const at = reinterpret_cast<l::Record*>(memory_.data() + cursor.chunk + cursor.at);
    cursor.at += static_cast<std::uint32_t>(count * sizeof(l::Record));
    return at;
  }

  void open_chunk(std::uint32_t row, Cursor& cursor, std::uint64_t ticks) {
    namespace l = jitquill::lanes;
    const std::uint32_t number = lane(row).chunk_number + 1;
    const std::size_t size = l::kChunkSizes[number > 3 ? 2 : number - 1];
    cursor = {header().used_bytes, 0, static_cast<std::uint32_t>(size)};
    if (cursor.chunk + size > memory_.size()) __builtin_trap();  // the test's pool is too small
    l::ChunkHeader& made = chunk(cursor.chunk);
    made.size = cursor.size;
    made.lane = row;
    made.thread = lane(row).number;
    made.number = number;
    made.start_ticks = ticks;
    made.lost_before = lane(row).lost.exchange(0);
    made.lost_since_ticks = lane(row).lost_since_ticks.exchange(0);
    made.stack_low = stacks_[0];
    made.stack_high = stacks_[1];
    made.signal_stack_low = stacks_[2];
    made.signal_stack_high = stacks_[3];
    std::strncpy(made.thread_name, names_[row].c_str(), sizeof made.thread_name - 1);
    made.state.store(l::ChunkState::kUsed, std::memory_order_release);
    header().used_bytes += size;
    lane(row).chunk_number = number;
    chunks_[row].push_back(cursor.chunk);
  }

  std::span<std::uint8_t> memory_;
  std::uint64_t stacks_[4] = {};
  std::uint32_t threads_ = 0;
  std::map<std::uint32_t, Cursor> cursors_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> chunks_;
};

}  // namespace test_support
