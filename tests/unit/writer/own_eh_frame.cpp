#include "tests/unit/writer/own_eh_frame.hpp"

#include <link.h>

#include <cstring>
#include <stdexcept>

namespace jitquill::tests {
namespace {

template <class T>
T read(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// What a field holds that counts from itself.
const std::uint8_t* relative(const std::uint8_t* field) {
  return field + read<std::int32_t>(field);
}

struct Program {
  const std::uint8_t* header = nullptr;  // .eh_frame_hdr
  std::uint64_t load_bias = 0;
};

// The program itself comes first.
int take_first(dl_phdr_info* info, std::size_t, void* out) {
  auto& program = *static_cast<Program*>(out);
  program.load_bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
      program.header = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  return 1;
}

std::size_t size_to_terminator(const std::uint8_t* section) {
  std::size_t size = 0;
  while (const auto length = read<std::uint32_t>(section + size)) size += 4 + length;
  return size;
}

}  // namespace

// | version, three encodings | .eh_frame i32, from the field | functions u32 | rows: start i32, FDE i32 from
// the header |, as GNU ld writes it; an FDE has its start and size behind its length and CIE distance.
OwnEhFrame own_eh_frame() {
  Program program;
  dl_iterate_phdr(take_first, &program);
  const std::uint8_t* const header = program.header;
  if (header == nullptr || read<std::uint32_t>(header) != 0x3B031B01)
    throw std::runtime_error("the program has no .eh_frame_hdr of the usual form");
  OwnEhFrame own;
  const std::uint8_t* const section = relative(header + 4);
  own.section = {section, size_to_terminator(section)};
  own.load_bias = program.load_bias;
  const auto count = read<std::uint32_t>(header + 8);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint8_t* const row = header + 12 + std::size_t{8} * i;
    const std::uint8_t* const fde = header + read<std::int32_t>(row + 4);
    own.functions.push_back(
        {reinterpret_cast<std::uint64_t>(header + read<std::int32_t>(row)), read<std::uint32_t>(fde + 12)});
  }
  return own;
}

}  // namespace jitquill::tests
