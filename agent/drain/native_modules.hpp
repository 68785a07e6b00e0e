// Which files the code of native functions is from, and so what they are called.
//
// Context   [drain]; `jitquill recover`. Raw system calls.
// Promises  a module is known for as long as the run: what was mapped later at its place is newer, and goes
//           first. Modules are part of the drain's state, so that a process that was killed has names too.
// Does not  see what came and went between two looks. Code of no file has no names here.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/drain/symbol_table.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"

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
  // Before it is asked for: the process may be killed until then.
  void look_at_mappings() noexcept;
  // The name is valid while this lives.
  NativeName find(std::uint64_t address) noexcept;

  // False: the address is in none. Which that is, is asked for once in each look.
  bool find_tables(std::uint64_t address, ModuleTables& tables) noexcept;
  void begin_look() noexcept { strange_page_ = 0; }
  // see_module(start, end) of each, and see(start, size, name) of each function of those whose functions call
  // hooks; looks at the mappings first.
  template <class SeeModule, class See>
  void for_each_hooked(SeeModule see_module, See see) noexcept {
    if (is_this_process_) look_at_mappings();
    for (Module& module : modules_.all()) {
      see_module(module.start, module.end);
      if (!has_hooks(module)) continue;
      const std::uint64_t bias = module.start - module.file_offset;
      module.symbols->for_each(
          [&](const NamedRange& range) { see(range.offset + bias, range.size, range.name); });
    }
  }
  std::size_t size() const noexcept { return modules_.size(); }

  // | modules: count, {start, end, file offset, inode, build-id, path} |
  void put_new(Bytes& state) noexcept { put_from(put_, state); }
  void put_all(Bytes& state) noexcept { put_from(0, state); }
  bool apply(ByteSource& state) noexcept;

 private:
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
  };
  bool has_hooks(Module& module) noexcept;
  void see_mapping(std::string_view line) noexcept;
  bool is_known(std::uint64_t start, std::uint64_t inode) const noexcept;
  bool add(Module module, std::string_view path) noexcept;
  Module* module_of(std::uint64_t address) noexcept;
  SymbolTable* symbols_of(Module& module) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;

  GrowingArray<Module> modules_;  // the newest last
  std::size_t put_ = 0;
  bool is_this_process_ = false;
  std::uint64_t file_start_ = 0;  // the last mapping that was seen of a file's beginning
  std::uint64_t file_inode_ = 0;
  std::uint64_t strange_page_ = 0;  // the last that was in no module, though the mappings were looked at
};

}  // namespace jitquill::drain
