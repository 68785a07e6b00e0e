// What the plugin makes of symbol files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/symfile.hpp"
#include "tests/unit/intake/sample.hpp"

namespace {

using sample::functions_of;
using sample::Seen;
using test_support::Symfile;

constexpr std::uint64_t kText = 0x100000;

Symfile with_text(std::size_t size) {
  Symfile file;
  file.sections.push_back({".text", kText, std::vector<std::uint8_t>(size, 0x90)});
  return file;
}

bool has_line(const Seen& seen, unsigned line) {
  return std::any_of(seen.lines.begin(), seen.lines.end(),
                     [&](const sample::SeenLine& row) { return row.line == line; });
}

TEST(SymfileOfACompiler, HasItsFunctionsWhereTheyWereLoaded) {
  const auto functions = functions_of(sample::object());
  ASSERT_TRUE(functions.is_read);
  const Seen* const add = functions.find("sample_add");
  const Seen* const loop = functions.find("sample_loop");
  ASSERT_TRUE(add != nullptr && loop != nullptr);
  EXPECT_EQ(add->address, sample::kAddress);
  EXPECT_GT(add->size, 0u);
  EXPECT_GE(loop->address, add->address + add->size);
}

// The file's own line table says 0 for every address: it is relocated on a copy.
TEST(SymfileOfACompiler, HasItsLinesInEachFunctionAlone) {
  const auto functions = functions_of(sample::object());
  const Seen* const add = functions.find("sample_add");
  const Seen* const loop = functions.find("sample_loop");
  ASSERT_TRUE(add != nullptr && loop != nullptr);
  ASSERT_FALSE(add->lines.empty());
  ASSERT_FALSE(loop->lines.empty());
  EXPECT_EQ(add->lines.front().offset, 0u);
  EXPECT_EQ(add->lines.front().line, sample::line_of("int sample_add"));
  EXPECT_TRUE(has_line(*add, sample::line_of("return one + other")));
  EXPECT_FALSE(has_line(*add, sample::line_of("return sum")));
  EXPECT_EQ(loop->lines.front().line, sample::line_of("int sample_loop"));
  EXPECT_TRUE(has_line(*loop, sample::line_of("sum += sample_add")));
  for (const sample::SeenLine& row : add->lines) {
    EXPECT_TRUE(row.file.ends_with("sample.c")) << row.file;
    EXPECT_LT(row.offset, add->size);
  }
  EXPECT_TRUE(std::is_sorted(loop->lines.begin(), loop->lines.end(),
                             [](const auto& one, const auto& other) { return one.offset < other.offset; }));
}

TEST(Symfile, TakesSymbolsOfObjectsAsOffsets) {
  Symfile file = with_text(64);
  file.symbols = {{"second", 16, 16, 0}, {"first", 0, 16, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 2u);
  EXPECT_EQ(functions.all[0].name, "first");
  EXPECT_EQ(functions.all[0].address, kText);
  EXPECT_EQ(functions.all[1].address, kText + 16);
}

TEST(Symfile, TakesSymbolsOfProgramsAsAddresses) {
  Symfile file = with_text(64);
  file.type = ET_EXEC;
  file.symbols = {{"absolute", kText + 32, 16, 0}, {"relative", 16, 16, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 2u);
  EXPECT_EQ(functions.all[0].name, "relative");
  EXPECT_EQ(functions.all[0].address, kText + 16);
  EXPECT_EQ(functions.all[1].address, kText + 32);
}

TEST(Symfile, LetsASizeOfZeroReachTheNextFunction) {
  Symfile file = with_text(64);
  file.symbols = {{"a", 0, 0, 0}, {"b", 24, 0, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 2u);
  EXPECT_EQ(functions.all[0].size, 24u);
  EXPECT_EQ(functions.all[1].size, 40u);
}

TEST(Symfile, CutsWhatOverlapsAndDropsAliases) {
  Symfile file = with_text(64);
  file.symbols = {{"whole", 0, 64, 0}, {"alias", 0, 8, 0}, {"inside", 16, 8, 0}, {"outside", 4096, 8, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 2u);
  EXPECT_EQ(functions.all[0].name, "whole");
  EXPECT_EQ(functions.all[0].size, 16u);
  EXPECT_EQ(functions.all[1].name, "inside");
}

TEST(Symfile, NamesCodeWithoutASymbolAfterItsSection) {
  Symfile file = with_text(64);
  file.sections.push_back({".stubs", kText + 0x1000, std::vector<std::uint8_t>(32)});
  file.sections.push_back({".data", kText + 0x2000, std::vector<std::uint8_t>(32), SHF_ALLOC});
  file.sections.push_back({".unloaded", 0, std::vector<std::uint8_t>(32)});
  file.symbols = {{"f", 0, 64, 0}, {"variable", 0, 8, 0, STT_OBJECT}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 2u);
  EXPECT_EQ(functions.all[1].name, ".stubs");
  EXPECT_EQ(functions.all[1].size, 32u);
}

TEST(Symfile, NeedsNoContent) {
  Symfile file;
  file.sections.push_back({".text", kText, {}, SHF_ALLOC | SHF_EXECINSTR, 0x80});
  file.symbols = {{"JIT$$stub", 0, 0x80, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 1u);
  EXPECT_EQ(functions.all[0].size, 0x80u);
}

TEST(Symfile, IsRefusedWhereItIsNoneOfOurs) {
  auto other_machine = with_text(16).build();
  other_machine[18] = EM_AARCH64;
  EXPECT_FALSE(functions_of(other_machine).is_read);
  auto narrow = with_text(16).build();
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(functions_of(narrow).is_read);
  EXPECT_FALSE(functions_of({}).is_read);
}

TEST(Symfile, HasFewSectionsThatAreAllOfIt) {
  constexpr std::size_t kSections = 1000;
  std::vector<std::uint8_t> file = with_text(16).build();
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shoff = file.size();
  header.e_shnum = kSections;
  std::memcpy(file.data(), &header, sizeof header);
  file.resize(file.size() + kSections * sizeof(Elf64_Shdr));
  for (std::size_t i = 0; i < kSections; ++i) {
    Elf64_Shdr section{};
    section.sh_type = SHT_SYMTAB;
    section.sh_size = file.size();
    std::memcpy(file.data() + header.e_shoff + i * sizeof section, &section, sizeof section);
  }
  std::uint64_t read = 0;
  const auto see = [](void* to, const jitquill::symfile::Section* section) {
    if (section->content != nullptr) *static_cast<std::uint64_t*>(to) += section->size;
  };
  ASSERT_EQ(jitquill_symfile_v1.sections(file.data(), file.size(), see, &read), 1);
  EXPECT_GT(read, 0u);
  EXPECT_LE(read, 4 * file.size());
}

TEST(Symfile, HasNamesAsLongAsFormatsNeed) {
  Symfile file = with_text(64);
  file.symbols = {{std::string(4000, 'x'), 0, 16, 0}, {std::string(9000, 'y'), 16, 16, 0}, {"z", 32, 16, 0}};
  const auto functions = functions_of(file.build());
  ASSERT_EQ(functions.all.size(), 3u);
  EXPECT_EQ(functions.all[0].name, std::string(4000, 'x'));
  EXPECT_EQ(functions.all[1].name, std::string(4097, 'y'));  // one more, so that the cut is counted
  EXPECT_EQ(functions.all[2].name, "z");
}

TEST(Symfile, TellsWhichSectionsAreRelocated) {
  Symfile file = with_text(64);
  file.sections.push_back({".eh_frame", kText + 0x1000, std::vector<std::uint8_t>(8), SHF_ALLOC});
  file.sections[0].relocations = {{4, ELF64_R_INFO(1, R_X86_64_PC32), -4}};
  file.symbols = {{"f", 0, 64, 0}};
  const auto bytes = file.build();
  std::vector<jitquill::symfile::Section> seen;
  const auto see = [](void* to, const jitquill::symfile::Section* section) {
    static_cast<decltype(seen)*>(to)->push_back(*section);
  };
  ASSERT_NE(jitquill_symfile_v1.sections(bytes.data(), bytes.size(), see, &seen), 0);
  ASSERT_GE(seen.size(), 3u);
  EXPECT_TRUE(seen[1].is_code && seen[1].has_relocations && !seen[1].is_eh_frame);
  EXPECT_TRUE(!seen[2].is_code && !seen[2].has_relocations && seen[2].is_eh_frame);
  EXPECT_EQ(seen[2].address, kText + 0x1000);
}

}  // namespace
