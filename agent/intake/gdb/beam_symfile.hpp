// Erlang's symbol file: a format of its own, made by the JIT of OTP 24 and newer for gdb's reader plugins.
//
// Context   any; no allocation.
// Promises  nothing is read outside the file, and nothing is handed out unless all of it makes sense.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jitquill::gdb {

struct BeamRange {
  std::uint64_t address;
  std::uint64_t size;
  std::string_view name;  // "module:function/arity"
};

struct BeamLine {
  std::uint32_t offset;  // from the range's start
  std::uint32_t line;
  const char* file;  // ends with NUL inside the file
};

class BeamSymfile {
 public:
  explicit BeamSymfile(std::span<const std::uint8_t> file) noexcept : file_(file) {}

  // The emulator's own file (no code) and modules.
  bool is_valid() const noexcept;

  // Where the code of all its pieces lies; what is said to be so, of valid files.
  std::span<const std::uint8_t> code() const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(value_at<std::uint64_t>(8)), value_at<std::uint32_t>(20)};
  }

  // Calls range(BeamRange, line count) for each piece of code, then line(BeamLine) for each of its lines.
  // Only of valid files.
  template <class Range, class Line>
  void for_each(Range range, Line line) const noexcept;

 private:
  struct RangeHead {
    std::uint32_t start;
    std::uint32_t end;
    std::uint32_t line_count;
    std::uint16_t name_size;  // with its NUL
  };
  struct LineHead {
    std::uint32_t start;
    std::uint32_t line;
    std::uint16_t file_size;  // with its NUL
  };
  static constexpr std::uint64_t kFileHead = 32;
  static constexpr std::uint64_t kRangeHead = 16;
  static constexpr std::uint64_t kLineHead = 12;

  template <class T>
  T value_at(std::uint64_t at) const noexcept;
  bool has_text(std::uint64_t at, std::uint16_t size) const noexcept;
  std::uint64_t first_range() const noexcept { return kFileHead + value_at<std::uint16_t>(24); }
  RangeHead range_at(std::uint64_t at) const noexcept;
  LineHead line_at(std::uint64_t at) const noexcept;

  std::span<const std::uint8_t> file_;
};

template <class T>
T BeamSymfile::value_at(std::uint64_t at) const noexcept {
  T value{};
  if (at <= file_.size() && sizeof value <= file_.size() - at)
    __builtin_memcpy(&value, file_.data() + at, sizeof value);
  return value;
}

template <class Range, class Line>
void BeamSymfile::for_each(Range range, Line line) const noexcept {
  if (value_at<std::uint32_t>(0) == 0) return;
  const auto base = value_at<std::uint64_t>(8);
  const auto ranges = value_at<std::uint32_t>(16);
  const auto* const text = reinterpret_cast<const char*>(file_.data());
  std::uint64_t at = first_range();
  for (std::uint32_t i = 0; i < ranges; ++i) {
    const RangeHead head = range_at(at);
    range(BeamRange{base + head.start, std::uint64_t{head.end} - head.start,
                    std::string_view(text + at + 14, head.name_size - 1u)},
          head.line_count);
    at += kRangeHead + head.name_size;
    for (std::uint32_t row = 0; row < head.line_count; ++row) {
      const LineHead from = line_at(at);
      line(BeamLine{from.start - head.start, from.line, text + at + 10});
      at += kLineHead + from.file_size;
    }
  }
}

}  // namespace jitquill::gdb
