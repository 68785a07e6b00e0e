#include "agent/intake/symfile/plugin.hpp"

#include <exception>

#include "agent/intake/symfile/elf_image.hpp"
#include "agent/intake/symfile/entry_code.hpp"
#include "agent/intake/symfile/line_table.hpp"

namespace jitquill::symfile {
namespace {

Section section_of(const ElfImage& image, std::size_t index) {
  const ElfSection& from = image.sections()[index];
  Section section{};
  section.address = from.header.sh_addr;
  section.size = from.header.sh_size;
  section.content = from.content.empty() ? nullptr : from.content.data();
  section.is_code = from.is_code();
  section.is_eh_frame = from.name == ".eh_frame";
  section.has_relocations = image.relocations_of(index) != nullptr;
  return section;
}

int sections(const std::uint8_t* bytes, std::uint64_t size, void (*see)(void* to, const Section* section),
             void* to) noexcept try {
  const auto image = ElfImage::read({bytes, static_cast<std::size_t>(size)});
  if (!image) return 0;
  for (std::size_t i = 0; i < image->sections().size(); ++i) {
    const Section section = section_of(*image, i);
    see(to, &section);
  }
  return 1;
} catch (const std::exception&) {
  return 0;
}

int functions(const std::uint8_t* bytes, std::uint64_t size, void (*see)(void* to, const Function* function),
              void* to) noexcept try {
  const auto image = ElfImage::read({bytes, static_cast<std::size_t>(size)});
  if (!image) return 0;
  const auto found = image->functions();
  LineTable table(*image);
  for (const ElfFunction& from : found) {
    const auto lines = table.of(from);
    const Function function{from.address,     from.size,    from.name.data(),
                            from.name.size(), lines.data(), lines.size()};
    see(to, &function);
  }
  return 1;
} catch (const std::exception&) {
  return 0;
}

EntryCode entry(const std::uint8_t* code, std::uint64_t size) noexcept {
  return read_entry({code, static_cast<std::size_t>(size)});
}

}  // namespace
}  // namespace jitquill::symfile

extern "C" const jitquill::symfile::Plugin jitquill_symfile_v1 = {
    sizeof(jitquill::symfile::Plugin), 0, &jitquill::symfile::sections, &jitquill::symfile::functions,
    &jitquill::symfile::entry};
