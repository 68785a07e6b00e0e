// The sites of live functions: checked when their code is announced, switched on and off later.
//
// Context   touch(): any, before anything is held. All else under the leaf lock, so that one thread at a time
//           writes sleds; the code may run meanwhile.
// Promises  nothing is written into bytes that are not a prefilled sled (sled.hpp) whose thunk leads to our
//           hook of its kind: a function with one such site keeps all of its sites as they are. A function's
//           exits are on before its entries, and off after them.
//           Before sites of old code are switched they are looked at: where they are gone, other bytes, or
//           read-only without a word of their runtime, nothing is written, and they are left for good.
// Does not  notice code that goes, without a word, at the very moment when its sites are written.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/model/code.hpp"

namespace jitquill::sites {

// The hooks that sleds lead to, by their kind (jitquill_site_kind). `with_stacks`: where some functions'
// stacks are to be taken, thunks for entries are made with that one.
const void* hook(std::uint32_t kind, bool with_stacks = false) noexcept;

// What keeps a function's sites off for good.
enum class Trouble : std::uint8_t {
  kNone,
  kNoPlace,   // nowhere to write them
  kBadSites,  // out of order or range, of an unknown kind, not aligned
  kBadSleds,  // other bytes than a sled's, or not the same where they are written
  kBadThunk,  // the call leads to something else than our hook
  kLargeId,   // the code's id has more than 32 bits; than 31 where the wish for a stack is one
  kNoMemory,
};

// A constant text that goes on from "sites stay off: ".
const char* text(Trouble trouble) noexcept;

// Writes to the sleds what they hold, so that a wrong pointer faults here. Those that are no sleds are not
// touched.
void touch(const CodeLoad& load) noexcept;
// As touch(), each page of it.
void touch(std::uint8_t* writable, std::uint64_t size) noexcept;

// Of one live function. Made with its sites off, whatever they were.
class SiteList {
 public:
  // The load must have sites. Null: it has no site that could be switched, and `trouble` says why.
  // `wants_stack`: at each entry, if its thunks are made for that.
  static SiteList* make(const CodeLoad& load, Trouble& trouble, bool wants_stack = false) noexcept;
  static void forget(SiteList* list) noexcept;  // null too

  // Directly behind make().
  void turn_new(bool on) noexcept;
  // False: they are not where they were.
  bool turn(bool on) noexcept;
  bool is_gone() const noexcept { return is_gone_; }
  bool is_on() const noexcept { return is_on_; }
  // Stacks were wanted, and its thunks are not made for that.
  bool lacks_stacks() const noexcept { return lacks_stacks_; }
  std::string_view name() const noexcept;

 private:
  explicit SiteList(const CodeLoad& load) noexcept;
  bool is_there() noexcept;
  void turn_each(std::uint32_t from, std::uint32_t to, bool on) noexcept;
  std::uint32_t* offsets() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }

  std::uint8_t* writable_;
  std::uint32_t entries_ = 0;  // of offsets(), the first ones
  std::uint32_t count_;
  std::uint32_t name_size_;
  std::uint32_t id_;
  bool is_on_ = false;
  bool is_gone_ = false;
  bool lacks_stacks_ = false;
};

}  // namespace jitquill::sites
