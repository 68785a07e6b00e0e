// Names and places of functions, for sinks that need them again after define().
//
// Context   as the sink that uses it (writer/sink/run_sink.hpp).
// Promises  what define() was told comes back, and survives its process by put_new(), put_all() and apply().
//           Names are clean (writer/bytes/names.hpp) and not empty.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/model/run.hpp"

namespace jitquill {

class FunctionTexts {
 public:
  bool define(const FunctionInfo& function) noexcept;  // false: no memory
  std::size_t size() const noexcept { return texts_.size(); }
  std::string_view name(FunctionNumber number) const noexcept;
  std::string_view file(FunctionNumber number) const noexcept;
  std::uint32_t line(FunctionNumber number) const noexcept;

  // | functions | each: number, line, name, file |, numbers as uleb128, texts behind their sizes.
  void put_new(Bytes& state) noexcept;  // since the last call of either
  void put_all(Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  // Into chars_: the name, then the file.
  struct Text {
    std::uint64_t at;
    std::uint32_t name_size;
    std::uint32_t file_size;
    std::uint32_t line;
  };
  bool keep(FunctionNumber number, std::string_view name, std::string_view file, std::uint32_t line) noexcept;
  void put_from(std::size_t first, Bytes& state) noexcept;
  std::string_view chars(std::uint64_t at, std::size_t size) const noexcept;

  Bytes chars_;
  GrowingArray<Text> texts_;               // by number
  GrowingArray<FunctionNumber> in_order_;  // as they were defined
  std::size_t put_ = 0;                    // of in_order_
};

}  // namespace jitquill
