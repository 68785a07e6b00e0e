#include "tests/fuzz/told_checks.hpp"

#include <cstring>

#include "tests/fuzz/ground.hpp"

namespace fuzz {
namespace {

volatile std::uint64_t g_sink;

void read_all(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : bytes) sum += byte;
  g_sink = sum;
}

void read_text(const char* text) {
  if (text != nullptr) g_sink = std::strlen(text);
}

void check_lines(const jitquill::CodeLoad& load) {
  std::uint32_t last = 0;
  for (const jitquill::Line& line : load.lines) {
    require(line.offset >= last, "offsets of lines ascend");
    require(line.offset < load.bytes.size(), "lines lie inside the code");
    last = line.offset;
    read_text(line.file);
  }
}

void check_inlining(const jitquill::CodeLoad& load) {
  const auto& [positions, rows] = load.inlining;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    require(positions[i].caller < static_cast<std::int32_t>(i), "a call comes before what it calls");
    read_text(positions[i].function);
    read_text(positions[i].file);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    require(rows[i].position < positions.size(), "a row has a position");
    require(rows[i].offset < load.bytes.size(), "rows of inlined code lie inside the code");
    require(i == 0 || rows[i - 1].offset < rows[i].offset, "offsets of inlined code ascend");
  }
}

}  // namespace

void check(const jitquill::CodeLoad& load) {
  const bool is_copy = reinterpret_cast<std::uint64_t>(load.bytes.data()) != load.address;
  if (is_copy) read_all(load.bytes);
  read_all({reinterpret_cast<const std::uint8_t*>(load.name.data()), load.name.size()});
  read_text(load.file);
  check_lines(load);
  check_inlining(load);
  read_all(load.unwinding.ready.initial);
  read_all(load.unwinding.ready.rows);
}

}  // namespace fuzz
