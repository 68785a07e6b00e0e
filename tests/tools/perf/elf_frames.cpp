#include "tests/tools/perf/elf_frames.hpp"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

struct Text {
  GElf_Addr start = 0;
  GElf_Xword size = 0;
};

Text text_of(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && std::strcmp(name, ".text") == 0) return {header.sh_addr, header.sh_size};
  }
  return {};
}

bool has_row(Dwarf_CFI* frames, GElf_Addr address) {
  Dwarf_Frame* frame = nullptr;
  const bool found = dwarf_cfi_addrframe(frames, address, &frame) == 0;
  std::free(frame);
  return found;
}

std::string trouble_with(Elf* elf) {
  const Text text = text_of(elf);
  if (text.size == 0) return "no .text";
  Dwarf_CFI* const frames = dwarf_getcfi_elf(elf);
  if (frames == nullptr) return std::string("no frames: ") + dwarf_errmsg(-1);
  std::string trouble;
  if (!has_row(frames, text.start)) trouble = "no row at the first byte";
  if (!has_row(frames, text.start + text.size - 1)) trouble += " no row at the last byte";
  if (has_row(frames, text.start + text.size)) trouble += " a row behind the code";
  dwarf_cfi_end(frames);
  return trouble;
}

}  // namespace

std::string trouble_with_frames(const std::string& elf_file) {
  elf_version(EV_CURRENT);
  const int descriptor = open(elf_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "cannot be opened";
  Elf* const elf = elf_begin(descriptor, ELF_C_READ, nullptr);
  const std::string trouble = elf == nullptr ? "no ELF file" : trouble_with(elf);
  elf_end(elf);
  close(descriptor);
  return trouble;
}
