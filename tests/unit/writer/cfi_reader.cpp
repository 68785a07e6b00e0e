#include "tests/unit/writer/cfi_reader.hpp"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace jitquill::tests {
namespace {

constexpr std::uint64_t kText = 0x80;
constexpr char kSectionNames[] = "\0.text\0.eh_frame\0.eh_frame_hdr\0.shstrtab";

Elf64_Shdr section(std::uint32_t name, std::uint32_t type, std::uint64_t flags, std::uint64_t at,
                   std::uint64_t size) {
  Elf64_Shdr header{};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_addr = flags != 0 ? at : 0;
  header.sh_offset = at;
  header.sh_size = size;
  header.sh_addralign = 8;
  return header;
}

// [ELF header, pad to 0x80] [code: zeros] [blob] [section names] [section headers]
std::vector<char> image_of(std::span<const std::uint8_t> blob, unwind::BlobSizes sizes,
                           std::uint64_t code_size) {
  const std::uint64_t eh_frame = kText + unwind::eh_frame_offset(code_size);
  const std::uint64_t names = eh_frame + blob.size();
  const std::uint64_t headers = (names + sizeof kSectionNames + 7) / 8 * 8;
  const Elf64_Shdr sections[] = {
      {},
      section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kText, code_size),
      section(7, SHT_PROGBITS, SHF_ALLOC, eh_frame, sizes.eh_frame),
      section(17, SHT_PROGBITS, SHF_ALLOC, eh_frame + sizes.eh_frame, sizes.eh_frame_hdr),
      section(31, SHT_STRTAB, 0, names, sizeof kSectionNames),
  };
  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_VERSION] = EV_CURRENT;
  elf.e_type = ET_DYN;
  elf.e_machine = EM_X86_64;
  elf.e_version = EV_CURRENT;
  elf.e_shoff = headers;
  elf.e_ehsize = sizeof elf;
  elf.e_shentsize = sizeof sections[0];
  elf.e_shnum = static_cast<Elf64_Half>(std::size(sections));
  elf.e_shstrndx = 4;
  std::vector<char> image(headers + sizeof sections);
  std::memcpy(image.data(), &elf, sizeof elf);
  std::memcpy(image.data() + eh_frame, blob.data(), blob.size());
  std::memcpy(image.data() + names, kSectionNames, sizeof kSectionNames);
  std::memcpy(image.data() + headers, sections, sizeof sections);
  return image;
}

bool is_base_register(const Dwarf_Op& op) {
  return op.atom >= DW_OP_breg0 && op.atom < DW_OP_breg0 + kFirstColumns;
}

// The few location operations that CFI rules turn into. The result is an address, or with
// DW_OP_stack_value a value.
struct Place {
  std::uint64_t value = 0;
  bool is_value = false;
};
Place evaluate(std::span<const Dwarf_Op> ops, const Snapshot& now, std::uint64_t cfa) {
  Place place;
  for (const Dwarf_Op& op : ops) {
    if (op.atom == DW_OP_call_frame_cfa) {
      place.value = cfa;
    } else if (op.atom == DW_OP_plus_uconst) {
      place.value += op.number;
    } else if (op.atom == DW_OP_bregx && op.number < kFirstColumns) {
      place.value = now.registers[op.number] + op.number2;
    } else if (is_base_register(op)) {
      place.value = now.registers[op.atom - DW_OP_breg0] + op.number;
    } else if (op.atom == DW_OP_deref) {
      place.value = now.load(place.value);
    } else if (op.atom == DW_OP_stack_value) {
      place.is_value = true;
    } else {
      ADD_FAILURE() << "operation " << int{op.atom} << " is not expected in these tables";
    }
  }
  return place;
}

}  // namespace

struct CfiReader::Handles {
  std::vector<char> image;
  int file = -1;
  Elf* elf = nullptr;
  Dwarf_CFI* cfi = nullptr;
  std::uint64_t base = kText;  // the address that offset 0 stands for

  void open_tables() {
    cfi = dwarf_getcfi_elf(elf);
    EXPECT_NE(cfi, nullptr) << dwarf_errmsg(-1);
  }
  std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame_at(std::uint64_t offset) const {
    Dwarf_Frame* found = nullptr;
    if (dwarf_cfi_addrframe(cfi, base + offset, &found) != 0) found = nullptr;
    return {found, &std::free};
  }
};

CfiReader::CfiReader(std::span<const std::uint8_t> blob, unwind::BlobSizes sizes, std::uint64_t code_size)
    : handles_(std::make_unique<Handles>()) {
  elf_version(EV_CURRENT);
  handles_->image = image_of(blob, sizes, code_size);
  handles_->elf = elf_memory(handles_->image.data(), handles_->image.size());
  handles_->open_tables();
}

CfiReader::CfiReader(const std::string& path) : handles_(std::make_unique<Handles>()) {
  elf_version(EV_CURRENT);
  handles_->file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  handles_->elf = elf_begin(handles_->file, ELF_C_READ_MMAP, nullptr);
  handles_->base = 0;
  handles_->open_tables();
}

CfiReader::~CfiReader() {
  if (handles_->cfi != nullptr) dwarf_cfi_end(handles_->cfi);
  elf_end(handles_->elf);
  if (handles_->file >= 0) close(handles_->file);
}

std::optional<CfiReader::Caller> CfiReader::unwind(std::uint64_t offset, const Snapshot& now) const {
  const auto frame = handles_->frame_at(offset);
  if (frame == nullptr) return std::nullopt;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(dwarf_frame_cfa(frame.get(), &ops, &count), 0) << dwarf_errmsg(-1);
  Caller caller;
  caller.cfa = evaluate({ops, count}, now, 0).value;
  for (std::size_t reg = 0; reg < kFirstColumns; ++reg) {
    Dwarf_Op room[3];
    EXPECT_EQ(dwarf_frame_register(frame.get(), static_cast<int>(reg), room, &ops, &count), 0)
        << dwarf_errmsg(-1);
    // No rule. Opened without the ABI's defaults, libdw leaves it to us that callees keep their caller's
    // value.
    if (count == 0) {
      caller.registers[reg] = now.registers[reg];
      continue;
    }
    const Place place = evaluate({ops, count}, now, caller.cfa);
    caller.registers[reg] = place.is_value ? place.value : now.load(place.value);
  }
  return caller;
}

std::optional<CfaRule> CfiReader::cfa_rule(std::uint64_t offset) const {
  const auto frame = handles_->frame_at(offset);
  if (frame == nullptr) return std::nullopt;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame.get(), &ops, &count) != 0) return std::nullopt;
  const auto number = [](Dwarf_Word word) { return static_cast<std::int64_t>(word); };
  if (count == 1 && ops[0].atom == DW_OP_bregx)
    return CfaRule{static_cast<int>(ops[0].number), number(ops[0].number2), std::nullopt};
  if (count == 3 && is_base_register(ops[0]) && ops[1].atom == DW_OP_deref &&
      ops[2].atom == DW_OP_plus_uconst)
    return CfaRule{ops[0].atom - DW_OP_breg0, number(ops[2].number), number(ops[0].number)};
  return std::nullopt;
}

std::string CfiReader::rules(std::uint64_t offset) const {
  const auto frame = handles_->frame_at(offset);
  if (frame == nullptr) return {};
  std::string text;
  const auto put = [&](std::span<const Dwarf_Op> ops) {
    for (const Dwarf_Op& op : ops)
      text += " " + std::to_string(op.atom) + "(" + std::to_string(op.number) + "," +
              std::to_string(op.number2) + ")";
  };
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  text += "cfa";
  if (dwarf_frame_cfa(frame.get(), &ops, &count) == 0) put({ops, count});
  for (std::size_t reg = 0; reg < kFirstColumns; ++reg) {
    Dwarf_Op room[3];
    text += " r" + std::to_string(reg);
    if (dwarf_frame_register(frame.get(), static_cast<int>(reg), room, &ops, &count) != 0) continue;
    text += count == 0 && ops == nullptr ? " same" : "";  // else, without operations: undefined
    put({ops, count});
  }
  return text;
}

}  // namespace jitquill::tests
