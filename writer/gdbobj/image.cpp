#include "writer/gdbobj/image.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <string_view>

#include "writer/gdbobj/dwarf.hpp"

namespace jitquill::gdbobj {
namespace {

enum class Section : std::uint32_t {
#define SECTION(name, text, type, link, info, alignment, entry) name,
#include "writer/gdbobj/section.def"
#undef SECTION
  kCount
};
constexpr std::size_t kSections = static_cast<std::size_t>(Section::kCount);
constexpr std::uint32_t index(Section section) noexcept {
  return static_cast<std::uint32_t>(section) + 1;  // header 0 is none
}

struct SectionRow {
  std::string_view name;
  std::uint32_t type;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry_size;
};
constexpr SectionRow kRows[] = {
#define SECTION(name, text, type, link, info, alignment, entry) {text, type, link, info, alignment, entry},
#include "writer/gdbobj/section.def"
#undef SECTION
};
constexpr std::string_view kCodeName = ".text";

constexpr std::uint32_t kHeaderSize = 64;
constexpr std::uint32_t kSymbolSize = 24;
constexpr std::uint32_t kDieSize = 1 + 4 + 8 + 4;
constexpr std::uint32_t kRangeSize = 16;
constexpr std::uint32_t kFdeSizeAt = 16;  // of the code, behind length, distance and address

// Abbreviations. One for a function that was erased: a tag that nobody knows, of the same size.
enum Abbreviation : std::uint8_t { kUnitWithLines = 1, kUnit, kFunction, kErased };

// A debugger looks up to which object an address belongs by sections. Functions share one if less than a page
// lies between them, so that no library can: gdb would lose that one's symbols there.
constexpr std::uint64_t kPage = 4096;
bool begins_section(std::span<const Member> members, std::size_t i) noexcept {
  return i == 0 || members[i].function->address() - members[i - 1].function->end() >= kPage;
}

class ImageWriter {
 public:
  ImageWriter(Bytes& out, std::span<Member> members, Files& files) noexcept
      : out_(out), members_(members), files_(files) {}

  ImageTables put() noexcept {
    put_file_header();
    put_names();
    put_symbols();
    put_frames();
    put_lines();
    put_abbreviations();
    put_info();
    put_ranges();
    put_section_names();
    put_section_headers();
    return tables_;
  }

 private:
  struct Extent {
    std::uint64_t at = 0;
    std::uint64_t size = 0;
  };

  std::uint32_t here() const noexcept { return static_cast<std::uint32_t>(out_.size()); }
  Extent& extent(Section section) noexcept { return extents_[static_cast<std::size_t>(section)]; }
  std::uint32_t begin(Section section) noexcept {
    out_.pad_to(kRows[static_cast<std::size_t>(section)].alignment, 0);
    extent(section).at = out_.size();
    return here();
  }
  void end(Section section) noexcept { extent(section).size = out_.size() - extent(section).at; }

  void put_file_header() noexcept;
  void put_names() noexcept;
  void put_symbols() noexcept;
  void put_frames() noexcept;
  void put_lines() noexcept;
  void put_abbreviations() noexcept;
  void put_abbreviation(Abbreviation code, Tag tag, bool has_children,
                        std::initializer_list<std::uint64_t> pairs) noexcept;
  void put_info() noexcept;
  void put_ranges() noexcept;
  void put_section_names() noexcept;
  void put_section_headers() noexcept;
  void put_code_headers(std::uint32_t name_at) noexcept;

  static constexpr std::string_view kProducer = "jitquill";
  static constexpr std::uint32_t kProducerAt = 1;  // in the table of names
  static constexpr std::uint32_t kFirstNameAt = kProducerAt + kProducer.size() + 1;

  Bytes& out_;
  std::span<Member> members_;
  Files& files_;
  std::array<Extent, kSections> extents_;
  std::uint32_t code_sections_ = 0;
  ImageTables tables_;
};

// ET_EXEC: values of symbols are addresses, and nothing is relocated. The table of headers is patched in.
void ImageWriter::put_file_header() noexcept {
  out_.raw(std::string_view(ELFMAG)).u8(ELFCLASS64).u8(ELFDATA2LSB).u8(EV_CURRENT).u8(ELFOSABI_SYSV);
  out_.fill(0, EI_NIDENT - EI_ABIVERSION);
  out_.u16(ET_EXEC).u16(EM_X86_64).u32(EV_CURRENT);
  out_.u64(0).u64(0).u64(0);  // entry, program headers: none; section headers
  out_.u32(0).u16(kHeaderSize).u16(0).u16(0);
  out_.u16(sizeof(Elf64_Shdr)).u16(0).u16(index(Section::kSectionNames));
}

// | NUL | producer, NUL | name, NUL | ...
void ImageWriter::put_names() noexcept {
  begin(Section::kNames);
  out_.u8(0).raw(kProducer).u8(0);
  for (const Member& member : members_) out_.raw(member.function->name()).u8(0);
  end(Section::kNames);
  extent(Section::kDebugNames) = extent(Section::kNames);
}

// | name u32 | info u8 | other u8 | section u16 | value u64 | size u64 |, the first one empty
void ImageWriter::put_symbols() noexcept {
  begin(Section::kSymbols);
  out_.fill(0, kSymbolSize);
  tables_.symbols_at = here();
  std::uint32_t name_at = kFirstNameAt;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Function& function = *members_[i].function;
    if (begins_section(members_, i)) ++code_sections_;
    out_.u32(name_at).u8(STB_GLOBAL << 4 | STT_FUNC).u8(STV_DEFAULT);
    out_.u16(static_cast<std::uint16_t>(kSections + code_sections_));
    out_.u64(function.address()).u64(function.size());
    name_at += static_cast<std::uint32_t>(function.name().size() + 1);
  }
  end(Section::kSymbols);
}

void ImageWriter::put_frames() noexcept {
  begin(Section::kFrames);
  for (Member& member : members_) {
    member.cfi_at = here();
    out_.raw(member.function->cfi());
  }
  end(Section::kFrames);
}

void ImageWriter::put_lines() noexcept {
  const std::uint32_t start = begin(Section::kLines);
  files_.start_table();
  for (const Member& member : members_) {
    for (const FileChange& change : member.function->file_changes()) (void)files_.number(change.file);
  }
  if (files_.in_table().empty()) return;
  put_table_head(out_, files_);
  for (Member& member : members_) {
    member.lines_at = here();
    put_numbered(out_, member.function->lines(), member.function->file_changes(), files_);
    member.lines_size = here() - member.lines_at;
  }
  out_.patch_u32(start, here() - start - 4);
  end(Section::kLines);
}

// | code | tag | has children | attribute, form | ... | 0, 0 |
void ImageWriter::put_abbreviation(Abbreviation code, Tag tag, bool has_children,
                                   std::initializer_list<std::uint64_t> pairs) noexcept {
  out_.uleb128(code).uleb128(tag).u8(has_children ? 1 : 0);
  for (const std::uint64_t each : pairs) out_.uleb128(each);
  out_.u8(0).u8(0);
}

void ImageWriter::put_abbreviations() noexcept {
  begin(Section::kAbbreviations);
  put_abbreviation(kUnitWithLines, kCompileUnit, true,
                   {Attribute::kProducer, kStringOffset, kName, kStringOffset, kLanguage, kData1, kLowPc,
                    kAddress, kRanges, kSectionOffset, kStatementList, kSectionOffset});
  put_abbreviation(kUnit, kCompileUnit, true,
                   {Attribute::kProducer, kStringOffset, kName, kStringOffset, kLanguage, kData1, kLowPc,
                    kAddress, kRanges, kSectionOffset});
  for (const auto& [code, tag] : {std::pair{kFunction, kSubprogram}, std::pair{kErased, kUnknownTag}}) {
    put_abbreviation(code, tag, false,
                     {kName, kStringOffset, kLowPc, kAddress, kHighPc, kData4, kExternal, kPresent});
  }
  out_.u8(0);
  end(Section::kAbbreviations);
}

// | length u32 | version u16 | abbreviations u32 | address size u8 | the unit's DIE | functions | 0 |
// Low pc 0 is the base of the ranges, which hold addresses.
void ImageWriter::put_info() noexcept {
  const std::uint32_t start = begin(Section::kInfo);
  const bool has_lines = extent(Section::kLines).size != 0;
  out_.u32(0).u16(kDwarfVersion).u32(0).u8(kAddressSize);
  out_.u8(has_lines ? kUnitWithLines : kUnit).u32(kProducerAt).u32(kProducerAt).u8(kC99).u64(0).u32(0);
  if (has_lines) out_.u32(0);
  tables_.dies_at = here();
  std::uint32_t name_at = kFirstNameAt;
  for (const Member& member : members_) {
    out_.u8(kFunction).u32(name_at);
    out_.u64(member.function->address()).u32(static_cast<std::uint32_t>(member.function->size()));
    name_at += static_cast<std::uint32_t>(member.function->name().size() + 1);
  }
  out_.u8(0);
  out_.patch_u32(start, here() - start - 4);
  end(Section::kInfo);
}

// | begin u64 | end u64 | ... | 0, 0 |
void ImageWriter::put_ranges() noexcept {
  tables_.ranges_at = begin(Section::kRangeTable);
  for (const Member& member : members_) out_.u64(member.function->address()).u64(member.function->end());
  out_.u64(0).u64(0);
  end(Section::kRangeTable);
}

// | NUL | name, NUL | ... in the order of the rows, the code's last
void ImageWriter::put_section_names() noexcept {
  begin(Section::kSectionNames);
  out_.u8(0);
  for (const SectionRow& row : kRows) out_.raw(row.name).u8(0);
  out_.raw(kCodeName).u8(0);
  end(Section::kSectionNames);
}

// | name u32 | type u32 | flags u64 | address u64 | offset u64 | size u64 | link u32 | info u32 | alignment
// u64 | entry size u64 |
void ImageWriter::put_section_headers() noexcept {
  out_.pad_to(8, 0);
  out_.patch_u64(offsetof(Elf64_Ehdr, e_shoff), out_.size());
  const auto count = static_cast<std::uint16_t>(1 + kSections + code_sections_);
  out_.patch_u16(offsetof(Elf64_Ehdr, e_shnum), count);
  out_.fill(0, sizeof(Elf64_Shdr));
  std::uint32_t name_at = 1;
  for (std::size_t i = 0; i < kSections; ++i) {
    const SectionRow& row = kRows[i];
    const Extent& where = extents_[i];
    out_.u32(name_at).u32(where.size == 0 ? SHT_NULL : row.type).u64(0).u64(0).u64(where.at).u64(where.size);
    out_.u32(row.link).u32(row.info).u64(row.alignment).u64(row.entry_size);
    name_at += static_cast<std::uint32_t>(row.name.size() + 1);
  }
  put_code_headers(name_at);
}

void ImageWriter::put_code_headers(std::uint32_t name_at) noexcept {
  for (std::size_t i = 0; i < members_.size();) {
    const std::uint64_t start = members_[i].function->address();
    std::uint64_t end = 0;
    do end = members_[i++].function->end();
    while (i < members_.size() && !begins_section(members_, i));
    out_.u32(name_at).u32(SHT_NOBITS).u64(SHF_ALLOC | SHF_EXECINSTR).u64(start).u64(0).u64(end - start);
    out_.u32(0).u32(0).u64(1).u64(0);
  }
}

void store(std::uint8_t* to, std::uint64_t value, std::size_t size) noexcept {
  std::memcpy(to, &value, size);  // little-endian: the low bytes
}

}  // namespace

ImageTables put_image(Bytes& out, std::span<Member> members, Files& files) noexcept {
  return ImageWriter(out, members, files).put();
}

// A symbol without a name, an unknown DIE, a range and an FDE that are empty, a sequence of nothing but an
// opcode without a row.
void erase(std::uint8_t* image, const ImageTables& tables, std::span<const Member> members,
           std::size_t index) noexcept {
  const Member& member = members[index];
  const Function& function = *member.function;
  std::uint8_t* const symbol = image + tables.symbols_at + index * kSymbolSize;
  store(symbol + offsetof(Elf64_Sym, st_name), 0, 4);
  store(symbol + offsetof(Elf64_Sym, st_size), 0, 8);
  image[tables.dies_at + index * kDieSize] = kErased;
  store(image + tables.ranges_at + index * kRangeSize + 8, function.address(), 8);
  if (!function.cfi().empty()) store(image + member.cfi_at + function.fde_at() + kFdeSizeAt, 0, 8);
  std::memset(image + member.lines_at, kSetBasicBlock, member.lines_size);
}

}  // namespace jitquill::gdbobj
