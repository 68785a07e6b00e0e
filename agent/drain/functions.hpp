// The numbers that functions have in an output, by what run records say of them: a code's id, or an address.
//
// Context   [drain]; any one thread.
// Promises  a number is dense, from 0, and stands for one version of a function for ever. define_new() tells
//           of each one once, before anybody is handed it. By id: one look into an array. What the code lane
//           does not know is called jit_<id>, or by its address, and counted.
//           Native functions are one however many addresses in them are asked for; whether one is to be told
//           of is decided here, by its name, since its hook does not know it.
// Does not  keep texts: it reads them in the code lane, or in symbol tables, when they are wanted.
#pragma once

#include <cstdint>

#include "agent/base/demangler.hpp"
#include "agent/base/patterns.hpp"
#include "agent/drain/native_modules.hpp"
#include "agent/lanes/code_lane.hpp"
#include "agent/stacks/walker.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/bytes/number_table.hpp"
#include "writer/model/run.hpp"

namespace jitquill::drain {

// Who is told of addresses in native functions that no pattern names, until the patterns are others.
struct Unwanted {
  void (*add)(std::uint64_t address) = nullptr;
  void (*clear)() = nullptr;
};

class Functions {
  struct Known {
    std::uint64_t record_at;  // in the code lane; 0 = none
    FunctionNumber number;
    std::uint32_t placement;  // its last
  };

 public:
  static constexpr FunctionNumber kNone = NumberTable::kNone;
  // A native function that no pattern names.
  static constexpr FunctionNumber kHidden = kNone - 1;

  // What is in it now is read by read_news(). Null: no names at all.
  void open(lanes::CodeLaneReader* lane) noexcept { lane_ = lane; }
  // What is asked for by address is code of this process.
  void watch_this_process() noexcept { native_.watch_this_process(); }
  void look_at_modules() noexcept { native_.look(); }
  void end_gone_modules(std::uint64_t now_ns) noexcept { native_.end_gone(now_ns); }
  // Some call hooks: their names are read for want_stacks() then.
  void expect_natives() noexcept { has_natives_ = true; }
  void tell_unwanted(const Unwanted& unwanted) noexcept { unwanted_ = unwanted; }
  // Which native functions are told of, from now on. Until it is called: all.
  void set_patterns(std::string_view list) noexcept;
  // C++ names as their source has them; patterns take both forms then.
  void set_demangling(bool is_wanted) noexcept { demangles_ = is_wanted; }
  // At whose entries call stacks are wanted, of native functions that are told of: lanes/wanted_stacks.hpp
  // has them from now on, those of modules that are seen later too.
  void want_stacks(std::string_view list) noexcept;
  // After run records were taken, and before they are asked for here: whatever they name is there then.
  void read_news() noexcept;

  // Changes with any news of code, and of modules that were seen to come or go: until then what was found at
  // an address holds for all times since the change before.
  std::uint64_t changes() const noexcept { return changes_ + native_.changes(); }

  // Whether native functions are expected, or anything was asked for by address, so that it may be hidden.
  bool has_natives() const noexcept { return has_natives_; }
  // Numbers for many ids at once, without a branch: kNone where by_id() is to be asked. Until read_news().
  class Ids {
   public:
    FunctionNumber number(std::uint64_t id) const noexcept {
      const std::uint64_t at = id - first_;
      return (at < count_ ? rows_ + at : &kUnknown)->number;
    }

   private:
    friend class Functions;
    static constexpr Known kUnknown{0, NumberTable::kNone, 0};
    const Known* rows_;
    std::uint64_t first_;
    std::uint64_t count_;
  };
  Ids ids() const noexcept {
    Ids all;
    all.rows_ = ids_.data();
    all.first_ = first_id_;
    all.count_ = ids_.size();
    return all;
  }
  // kNone: no memory.
  FunctionNumber by_id(std::uint64_t id) noexcept {
    const std::uint64_t at = id - first_id_;
    if (at < ids_.size() && ids_[at].number != kNone) [[likely]]
      return ids_[at].number;
    return number_id(id);
  }
  // kHidden too.
  FunctionNumber by_address(std::uint64_t address, std::uint64_t when_ns) noexcept;

  // As by_address(), of an entry whose stack was taken: kHidden too where that was not wanted.
  FunctionNumber by_stack_entry(std::uint64_t address, std::uint64_t when_ns) noexcept;
  // Of code that called: whether or not a pattern names it. Jitted, or a module's; kNone: of neither, or no
  // memory.
  FunctionNumber by_return(std::uint64_t address, std::uint64_t when_ns) noexcept;
  // Of code that was sampled: whether or not a pattern names it. Where no name is known of a file's code, all
  // of that file is one function, called [its name]; where no code is known, all of that is.
  struct Place {
    FunctionNumber function;  // kNone: no memory
    std::uint64_t offset;     // from where it begins; 0 = that is unknown
  };
  Place place_of(std::uint64_t address, std::uint64_t when_ns) noexcept;
  void begin_look() noexcept { native_.begin_look(); }
  // Where the unwinding tables of the code there are. False: no code is known there.
  bool find_tables(std::uint64_t address, std::uint64_t when_ns, stacks::CodeTables& tables) noexcept;

  std::size_t size() const noexcept { return functions_.size(); }
  // tell(FunctionInfo) of each that is new since the last call.
  template <class Tell>
  void define_new(Tell tell) noexcept {
    while (defined_ < functions_.size()) {
      Text text;
      tell(describe(static_cast<FunctionNumber>(defined_++), text));  // who comes now is told all up to this
    }
  }
  // Of each that define_new() has told, from `first` on, once more.
  template <class Tell>
  void define_again(std::size_t first, Tell tell) noexcept {
    const std::uint64_t nameless = nameless_;
    for (std::size_t i = first; i < defined_; ++i) {
      Text text;
      tell(describe(static_cast<FunctionNumber>(i), text));
    }
    nameless_ = nameless;
  }
  std::size_t defined() const noexcept { return defined_; }
  // tell(CodeRecord), a load where it is now, of what lives of the code that is in [from, to) of the code
  // lane.
  template <class Tell>
  void tell_live_code(std::uint64_t from, std::uint64_t to, Tell tell) noexcept {
    sort_placements();
    for (std::size_t i = 0; i < by_address_.size(); ++i) {
      lanes::CodeRecord record;
      if (is_live(i) && read_live(placements_[by_address_[i]], from, to, record)) tell(record);
    }
  }
  template <class Tell>
  void tell_modules(Tell tell) noexcept {
    native_.tell_new(tell);
  }
  bool has_new() const noexcept { return defined_ != functions_.size(); }
  std::uint64_t nameless() const noexcept { return nameless_; }

  // | functions: count, {code id, address} | modules | demangles | patterns: 0, or size + 1 and text, and
  // those of stacks, if they changed | as uleb128: the functions' numbers follow from the order.
  void put_new(Bytes& state) noexcept;
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  struct Placement {  // code lived in [address, address + size) from `since_ns` until `until_ns`
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t since_ns;
    std::uint64_t until_ns;
    std::uint64_t id;
  };
  struct Function {
    std::uint64_t id;       // 0 = by address
    std::uint64_t address;  // in 48 bits; above them the tag of its module
  };
  struct Text {
    char made[64];
  };

  void note(const lanes::CodeRecord& record) noexcept;
  Known* known(std::uint64_t id) noexcept;
  Known* know(std::uint64_t id) noexcept;
  void place(const lanes::CodeRecord& record, Known& known) noexcept;
  void sort_placements() noexcept;
  bool is_live(std::size_t in_order) const noexcept;
  bool read_live(const Placement& placement, std::uint64_t from, std::uint64_t to,
                 lanes::CodeRecord& record) noexcept;
  const Placement* find_placement(std::uint64_t address, std::uint64_t when_ns) noexcept;
  FunctionNumber number_id(std::uint64_t id) noexcept;
  FunctionNumber number_native(std::uint64_t address, std::uint64_t tag) noexcept;
  FunctionNumber number_strange(std::uint64_t key, std::uint64_t id, std::uint64_t address) noexcept;
  FunctionNumber add(std::uint64_t id, std::uint64_t address) noexcept;
  static std::string_view made_name(std::string_view front, std::uint64_t number, int base,
                                    Text& text) noexcept;
  static std::string_view name_of_address(std::uint64_t address, Text& text) noexcept;
  std::string_view name_of_stand_in(std::uint64_t id, Text& text) noexcept;
  std::string_view shown(std::string_view name) noexcept {
    return demangles_ ? demangler_.text_of(name) : name;
  }
  void tell_wanted_stacks() noexcept;
  bool is_stack_wanted(std::string_view name) noexcept;
  void put_patterns(bool are_wanted, Bytes& state) noexcept;
  FunctionInfo describe(FunctionNumber number, Text& text) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;

  lanes::CodeLaneReader* lane_ = nullptr;
  GrowingArray<Known> ids_;  // of the code lane: by id, from first_id_ on
  std::uint64_t first_id_ = 0;
  GrowingArray<Placement> placements_;
  GrowingArray<std::uint32_t> by_address_;  // of placements_, by address and time
  std::uint64_t changes_ = 0;               // records of the code lane
  std::size_t sorted_ = 0;                  // so many placements are in by_address_
  NumberTable strange_;         // ids that the code lane does not have, addresses of no known code
  NumberTable native_numbers_;  // of addresses that were asked for; kHidden too
  NativeModules native_;
  NamePatterns patterns_;
  Unwanted unwanted_;
  Demangler demangler_;
  bool demangles_ = false;
  bool has_natives_ = false;
  NamePatterns stack_patterns_;
  std::size_t modules_searched_ = 0;  // so many there were when the wanted stacks were told
  NumberTable callers_;               // of addresses in native code that called
  bool has_patterns_ = false;
  bool are_patterns_new_ = false;     // not put yet
  GrowingArray<Function> functions_;  // by number
  std::size_t defined_ = 0;
  std::size_t put_ = 0;
  std::uint64_t nameless_ = 0;
};

}  // namespace jitquill::drain
