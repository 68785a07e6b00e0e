// What notes say of code, and which path stands for each function: that of the file which has it, and below
// it its name; or its name below /jit/<pid>.
//
// Context   as the sink that uses it. Allocates by nothrow operator new.
// Promises  two functions have two paths: the later one of a name is called name~<number>. Where the map is
//           full, or cannot grow, the path is kUnknown, counted.
// Does not  put notes.
#pragma once

#include <cstdint>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/bytes/number_table.hpp"
#include "writer/model/run.hpp"
#include "writer/oprofile/hash_file.hpp"

namespace jitquill::oprofile {

class Images {
 public:
  static constexpr std::uint32_t kUnknown = PathTable::kRoot;  // which is no path

  // Code that a JIT announced.
  struct Code {
    std::uint64_t id;
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t offset;  // in all code that there was, one behind the other
    std::uint32_t path;
  };

  explicit Images(HashFile& paths) noexcept : paths_(paths) {}

  // Behind the map's make(), or its open().
  Status begin(std::uint32_t pid) noexcept;
  std::uint32_t module(const ModuleNews& news) noexcept;
  // Null: no memory. Valid until the next.
  Code* load(const CodeNews& news) noexcept;
  Code* find(std::uint64_t code_id) noexcept;
  bool define(const FunctionInfo& function) noexcept;
  std::uint32_t of(FunctionNumber function) const noexcept {
    return function < functions_.size() ? functions_[function] : kUnknown;
  }
  std::uint32_t kernel() const noexcept { return kernel_; }
  std::uint64_t lost() const noexcept { return lost_; }

  // Of code, which may move or go yet when its process is gone; no sample comes then.
  // | offset | count, {id, address, size, offset, path} |, all uleb128.
  void put_new(Bytes& state) noexcept { put_from(put_, state); }
  void put_all(Bytes& state) noexcept { put_from(0, state); }
  bool apply(ByteSource& state) noexcept;

 private:
  struct Module {
    std::uint64_t start;
    std::uint64_t end;
    std::uint32_t path;
  };
  std::uint32_t known(const PathTable::Index& added) noexcept;
  std::uint32_t own_path(std::uint32_t parent, std::string_view name, std::uint64_t number) noexcept;
  std::uint32_t module_at(std::uint64_t address) const noexcept;
  bool know(const Code& code) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;

  HashFile& paths_;
  std::uint32_t jit_ = kUnknown;     // /jit/<pid>
  std::uint32_t native_ = kUnknown;  // /native: code of no file
  std::uint32_t kernel_ = kUnknown;  // /kernel
  GrowingArray<std::uint32_t> functions_;
  GrowingArray<Module> modules_;  // the newest last
  GrowingArray<Code> codes_;
  NumberTable code_numbers_;          // by id
  GrowingArray<std::uint8_t> taken_;  // by index: is a function's
  std::uint64_t next_offset_ = 0;
  std::uint64_t lost_ = 0;
  std::size_t put_ = 0;  // of codes_
};

}  // namespace jitquill::oprofile
