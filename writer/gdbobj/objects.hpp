// All published objects, kept few: a debugger's work for each event grows with their number.
//
// A function begins in an object of its own. Ten objects of one level become one of the next level, so a
// function is put four times at most; at the last level they stay, since a debugger reads all of an object
// again when one of its functions goes. An object of which half is gone is made anew.
//
// Context   one thread at a time.
// Promises  what is published is true after every call: a function that was removed is in no image, and one
//           that was added is in exactly one, but for the moment of a merge, when it is in two.
// Does not  own the functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/gdbobj/files.hpp"
#include "writer/gdbobj/object.hpp"
#include "writer/sink/object_registry.hpp"

namespace jitquill::gdbobj {

class Objects {
 public:
  Objects() noexcept = default;
  ~Objects() { withdraw_all(); }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  void begin(ObjectRegistry& registry) noexcept { registry_ = &registry; }

  // The bytes of the object that was made for it; 0: no memory.
  std::uint64_t add(Function& function, Files& files) noexcept;
  void remove(Function& function, Files& files) noexcept;
  void withdraw_all() noexcept;

 private:
  static constexpr std::uint32_t kLevels = 4;  // up to 1, 10, 100 and 1000 functions
  static constexpr std::size_t kMerged = 10;
  // Larger images are not merged, however few functions they have: offsets in them have 32 bits.
  static constexpr std::uint64_t kMostMergedSize = std::uint64_t{16} << 20;

  struct Level {
    Object* first = nullptr;
    std::size_t count = 0;
  };

  void link(Object& object) noexcept;
  void unlink(Object& object) noexcept;
  void publish(Object& object) noexcept;
  void merge_full_levels(std::uint32_t level, Files& files) noexcept;
  bool merge(Level& level, Files& files) noexcept;
  bool shrink(Object& object, Files& files) noexcept;

  ObjectRegistry* registry_ = nullptr;
  Level levels_[kLevels];
  Bytes scratch_;
};

}  // namespace jitquill::gdbobj
