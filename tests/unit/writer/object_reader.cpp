#include "tests/unit/writer/object_reader.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace jitquill::tests {
namespace {

constexpr int kRsp = 7;  // DWARF number

template <class Visit>
void for_each_section(Elf* elf, Visit visit) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    EXPECT_NE(gelf_getshdr(section, &header), nullptr) << elf_errmsg(-1);
    visit(section, header);
  }
}

}  // namespace

struct ObjectReader::Handles {
  Elf* elf = nullptr;
  Dwarf* dwarf = nullptr;
  Dwarf_CFI* cfi = nullptr;
  Dwarf_Die unit{};
};

ObjectReader::ObjectReader(std::span<const std::uint8_t> image) : handles_(std::make_unique<Handles>()) {
  elf_version(EV_CURRENT);
  Handles& handles = *handles_;
  handles.elf = elf_memory(const_cast<char*>(reinterpret_cast<const char*>(image.data())), image.size());
  EXPECT_NE(handles.elf, nullptr) << elf_errmsg(-1);
  handles.dwarf = dwarf_begin_elf(handles.elf, DWARF_C_READ, nullptr);
  EXPECT_NE(handles.dwarf, nullptr) << dwarf_errmsg(-1);
  handles.cfi = dwarf_getcfi_elf(handles.elf);
  Dwarf_CU* unit = nullptr;
  EXPECT_EQ(dwarf_get_units(handles.dwarf, nullptr, &unit, nullptr, nullptr, &handles.unit, nullptr), 0);
  EXPECT_EQ(dwarf_get_units(handles.dwarf, unit, &unit, nullptr, nullptr, nullptr, nullptr), 1)
      << "one unit and no more";
}

ObjectReader::~ObjectReader() {
  if (handles_->cfi != nullptr) dwarf_cfi_end(handles_->cfi);
  dwarf_end(handles_->dwarf);
  elf_end(handles_->elf);
}

std::set<Symbol> ObjectReader::symbols() const {
  std::set<Symbol> found;
  for_each_section(handles_->elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_SYMTAB) return;
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (int i = 1; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Sym symbol;
      EXPECT_NE(gelf_getsym(data, i, &symbol), nullptr);
      const char* const name = elf_strptr(handles_->elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0') continue;
      EXPECT_EQ(GELF_ST_TYPE(symbol.st_info), STT_FUNC);
      GElf_Shdr code;
      EXPECT_NE(gelf_getshdr(elf_getscn(handles_->elf, symbol.st_shndx), &code), nullptr);
      EXPECT_EQ(code.sh_flags, static_cast<GElf_Xword>(SHF_ALLOC | SHF_EXECINSTR));
      EXPECT_LE(code.sh_addr, symbol.st_value);
      EXPECT_GE(code.sh_addr + code.sh_size, symbol.st_value + symbol.st_size);
      EXPECT_TRUE(found.insert({name, symbol.st_value, symbol.st_size}).second) << name;
    }
  });
  return found;
}

std::set<Symbol> ObjectReader::scopes() const {
  std::set<Symbol> found;
  Dwarf_Die die;
  if (dwarf_child(&handles_->unit, &die) != 0) return found;
  do {
    if (dwarf_tag(&die) != DW_TAG_subprogram) continue;
    Dwarf_Addr low = 0, high = 0;
    EXPECT_EQ(dwarf_lowpc(&die, &low), 0);
    EXPECT_EQ(dwarf_highpc(&die, &high), 0);
    EXPECT_EQ(dwarf_haspc(&handles_->unit, low), 1) << "outside its unit";
    found.insert({dwarf_diename(&die), low, high - low});
  } while (dwarf_siblingof(&die, &die) == 0);
  return found;
}

// Not dwarf_getsrc_die(): between sequences it answers with the end of the one before.
std::optional<SourcePlace> ObjectReader::source_of(std::uint64_t address) const {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&handles_->unit, &lines, &count) != 0) return std::nullopt;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    Dwarf_Line* const row = dwarf_onesrcline(lines, i);
    Dwarf_Addr begin = 0, end = 0;
    bool is_end = false;
    dwarf_lineaddr(row, &begin);
    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end);
    dwarf_lineendsequence(row, &is_end);
    if (is_end || address < begin || address >= end) continue;
    SourcePlace place;
    place.file = dwarf_linesrc(row, nullptr, nullptr);
    dwarf_lineno(row, &place.line);
    dwarf_linecol(row, &place.column);
    return place;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::cfa_above_rsp(std::uint64_t address) const {
  Dwarf_Frame* found = nullptr;
  if (handles_->cfi == nullptr || dwarf_cfi_addrframe(handles_->cfi, address, &found) != 0)
    return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(dwarf_frame_cfa(found, &ops, &count), 0) << dwarf_errmsg(-1);
  if (count == 0 || ops[0].atom != DW_OP_bregx || ops[0].number != kRsp) return std::nullopt;
  return ops[0].number2;
}

bool ObjectReader::has_section(const std::string& name) const {
  std::size_t names = 0;
  EXPECT_EQ(elf_getshdrstrndx(handles_->elf, &names), 0);
  bool found = false;
  for_each_section(handles_->elf, [&](Elf_Scn*, const GElf_Shdr& header) {
    found = found || (header.sh_type != SHT_NULL && elf_strptr(handles_->elf, names, header.sh_name) == name);
  });
  return found;
}

std::size_t ObjectReader::code_sections() const {
  std::size_t count = 0;
  for_each_section(handles_->elf, [&](Elf_Scn*, const GElf_Shdr& header) {
    count += (header.sh_flags & SHF_EXECINSTR) != 0 ? 1 : 0;
  });
  return count;
}

}  // namespace jitquill::tests
