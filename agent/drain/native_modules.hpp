// Which files the code of native functions is from, and so what they are called.
//
// Context   [drain]; `jitquill recover`. Raw system calls.
// Promises  a module is known for as long as the run, and has its time: what is mapped later at its place is
//           another. Modules are part of the drain's state, so that a process that was killed has names too.
// Does not  see what came and went between two looks: look() is called before an object goes, end_gone() when
//           it is gone. Code of no file has no names here.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/drain/symbol_table.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/model/run.hpp"

namespace jitquill::drain {

struct NativeName {
  std::uint64_t address = 0;  // where the function begins
  std::uint64_t size = 0;     // 0 = unknown
  std::string_view name{};    // empty = nothing is named there
};

// Where the unwinding tables of a module are in this process.
struct ModuleTables {
  std::uint64_t header = 0;  // of its .eh_frame_hdr; 0 = it has none
  std::uint64_t low = 0;     // [low, high): all of the module
  std::uint64_t high = 0;
};

class NativeModules {
 public:
  NativeModules() noexcept = default;
  ~NativeModules();
  NativeModules(const NativeModules&) = delete;
  NativeModules& operator=(const NativeModules&) = delete;

  // This process's code is what is asked for: its mappings are looked at whenever an address is in no module.
  // Not before: most processes with traced functions have no native ones.
  void watch_this_process() noexcept { is_this_process_ = true; }

  // What is mapped now. Also before any is asked for: the process may be killed until then.
  void look() noexcept;
  // And what is not any more has ended.
  void end_gone(std::uint64_t now_ns) noexcept;

  // Which of the modules that were at an address one after the other was there at that time: 0 for the first.
  static constexpr unsigned kTagBits = 15;
  std::uint64_t tag_of(std::uint64_t address, std::uint64_t when_ns) noexcept {
    const bool may_be_later = address - ended_low_ < ended_high_ - ended_low_;
    return may_be_later ? find_tag(address, when_ns) : 0;
  }
  // The name is valid while this lives.
  NativeName find(std::uint64_t address, std::uint64_t tag) noexcept;

  // Which module has an address, after find().
  struct Known {
    bool is_there = false;
    std::uint64_t index = 0;  // the same for good
    std::uint64_t start = 0;  // where its file's beginning would be
  };
  Known module_with(std::uint64_t address, std::uint64_t tag) noexcept;
  std::string_view path_of(std::uint64_t index) const noexcept;

  // False: the address is in none. The mappings are looked at for its page once in each look, if not too many
  // others are in none either.
  bool has(std::uint64_t address) noexcept { return look_for(address) != nullptr; }
  bool find_tables(std::uint64_t address, ModuleTables& tables) noexcept;
  void begin_look() noexcept {
    for (std::uint64_t& page : strange_pages_) page = 0;
  }
  // see_module(start, end) of each, and see(start, size, name) of each function of those whose functions call
  // hooks; looks at the mappings first.
  template <class SeeModule, class See>
  void for_each_hooked(SeeModule see_module, See see) noexcept {
    if (is_this_process_) look();
    for (Module& module : modules_.all()) {
      if (module.until_ns != kNever) continue;
      see_module(module.start, module.end);
      if (!has_hooks(module)) continue;
      const std::uint64_t bias = module.start - module.file_offset;
      module.symbols->for_each(
          [&](const NamedRange& range) { see(range.offset + bias, range.size, range.name); });
    }
  }
  std::size_t size() const noexcept { return modules_.size(); }
  std::uint64_t changes() const noexcept { return modules_.size() + ends_; }
  // tell(ModuleNews) of each that came or went since the last call.
  template <class Tell>
  void tell_new(Tell tell) noexcept {
    for (const std::size_t i : untold_ends_.all()) tell(end_of(modules_[i]));  // others may lie there now
    untold_ends_.clear();
    for (; told_ < modules_.size(); ++told_) {
      const Module& module = modules_[told_];
      tell(news_of(module, module.since_ns));
      if (module.until_ns != kNever) tell(end_of(module));
    }
  }

  // | modules: count, {start, end, file offset, since, until, tag, inode, build-id, path} |
  // | ended: count, {module, until} |
  void put_new(Bytes& state) noexcept { put_from(put_, state); }
  void put_all(Bytes& state) noexcept { put_from(0, state); }
  bool apply(ByteSource& state) noexcept;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Module {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t file_offset;
    FileIdentity identity;
    char* path;
    SymbolTable* symbols;  // null until they are wanted
    std::uint64_t image;   // where its file's beginning is mapped; 0 = unknown
    bool has_no_hooks;     // looked at: nothing in it calls one
    bool has_tables;       // looked at: what is below
    ModuleTables tables;
    std::uint64_t since_ns = 0;
    std::uint64_t until_ns = kNever;
    std::uint64_t tag = 0;
    bool is_seen = true;  // at the last look

    bool has(std::uint64_t address) const noexcept { return address >= start && address < end; }
    bool overlaps(const Module& other) const noexcept { return start < other.end && other.start < end; }
    bool is_same_code(const Module& other) const noexcept;
  };
  static ModuleNews news_of(const Module& module, std::uint64_t when_ns) noexcept {
    return {when_ns, module.start, module.end - module.start, module.file_offset, module.path};
  }
  static ModuleNews end_of(const Module& module) noexcept {
    return {module.until_ns, module.start, module.end - module.start, module.file_offset, {}};
  }
  bool has_hooks(Module& module) noexcept;
  void see_mapping(std::string_view line) noexcept;
  Module* find_live(std::uint64_t start, std::uint64_t inode) noexcept;
  void place_in_time(Module& module) noexcept;
  void end(Module& module, std::uint64_t now_ns) noexcept;
  bool add(Module module, std::string_view path) noexcept;
  Module* module_of(std::uint64_t address, std::uint64_t tag) noexcept;
  Module* module_of(std::uint64_t address) noexcept;
  Module* look_for(std::uint64_t address) noexcept;
  const Module* module_at(std::uint64_t address, std::uint64_t when_ns) const noexcept;
  std::uint64_t find_tag(std::uint64_t address, std::uint64_t when_ns) noexcept;
  SymbolTable* symbols_of(Module& module) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;

  GrowingArray<Module> modules_;  // the newest last
  std::size_t put_ = 0;
  std::size_t told_ = 0;
  GrowingArray<std::size_t> untold_ends_;
  struct Ended {
    std::uint64_t module;
    std::uint64_t until_ns;
  };
  GrowingArray<Ended> ended_;    // not put yet
  std::uint64_t ends_ = 0;       // of modules, so far
  std::uint64_t ended_low_ = 0;  // addresses of all that ended
  std::uint64_t ended_high_ = 0;
  std::uint64_t looked_for_ns_ = 0;  // of the last event that no known module explained
  bool is_this_process_ = false;
  std::uint64_t file_start_ = 0;  // the last mapping that was seen of a file's beginning
  std::uint64_t file_inode_ = 0;
  // Those that were in no module, though the mappings were looked at: by their numbers, 0 = none.
  static constexpr std::size_t kStrangePages = 64;
  std::uint64_t strange_pages_[kStrangePages] = {};
};

}  // namespace jitquill::drain
