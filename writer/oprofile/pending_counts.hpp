// Counts that are in the sample stream, and not yet in the databases: they get there when the stream's part
// is in its file and the drain's journal has said so. In the journal they are as the counts that the
// databases have then, so that whoever goes on after a kill may put them in twice.
//
// Context   as the sink that uses it. Allocates by nothrow operator new.
// Promises  of each database the sum of what it has and what is pending here is that of all add().
#pragma once

#include <cstdint>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/oprofile/database.hpp"

namespace jitquill::oprofile {

class PendingCounts {
 public:
  explicit PendingCounts(Database& base) noexcept : base_(base) {}

  bool add(std::uint64_t key, std::uint64_t count) noexcept { return all_.push({key, count}); }
  std::size_t size() const noexcept { return all_.size(); }
  // Forgets those behind the first `size`.
  void cut(std::size_t size) noexcept { all_.cut(size); }
  // What was added so far is in the stream's file; or what was added since the last such call is not, and is
  // dropped: so much it was.
  void keep_new() noexcept { written_ = all_.size(); }
  std::uint64_t drop_new() noexcept;
  // What put() has said, or all, goes into the database. The first failure; what failed stays pending.
  Status flush(bool all) noexcept;

  // | count, {key, count that the database has then} |, all uleb128: what replaces what was put before.
  void put(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;
  // Of the last apply(), into the database.
  Status redo() noexcept;

 private:
  struct Count {
    std::uint64_t key;
    std::uint64_t count;
  };
  void merge() noexcept;

  Database& base_;
  GrowingArray<Count> all_;  // those that were put first
  std::size_t put_ = 0;
  std::size_t written_ = 0;
};

}  // namespace jitquill::oprofile
