// How placed code is moved: by the list of its words that depend on where it lies.
//
// Context   the thread that adds the code, behind relocateToBase(); later any thread, one at a time for each.
// Promises  what was moved computes what it did before. A call whose target is too far from the new place for
//           its rel32 is found before anything is announced.
// Does not  know pointers into the code that lie elsewhere: tables, return addresses on stacks.
#pragma once

#include <jitquill/asmjit/code_plan.hpp>
#include <jitquill/asmjit/jit_memory.hpp>

namespace jitquill::asmjit_detail {

class Motion {
 public:
  Motion() noexcept = default;
  Motion(const Motion&) = delete;
  Motion& operator=(const Motion&) = delete;

  // False: out of memory. `sites_are_linked`: their rel32 lead to thunks.
  bool read(const asmjit::CodeHolder& code, const CodePlan& plan, std::size_t owned,
            bool sites_are_linked) noexcept {
    size_ = code.JITQUILL_ASMJIT(codeSize, code_size)();
    owned_ = owned;
    room_ = owned - static_cast<std::size_t>(plan.end());
    for (const asmjit::RelocEntry* entry : code.JITQUILL_ASMJIT(relocEntries, reloc_entries)())
      read(code, *entry);
    for (const PlacedSite& site : plan.sites())
      if (sites_are_linked) relative_.put(site.offset + kSledCallAt);
    return relative_.whole() && absolute_.whole();
  }

  std::size_t size() const noexcept { return size_; }    // of the bytes
  std::size_t owned() const noexcept { return owned_; }  // of the allocation
  std::size_t room() const noexcept { return room_; }    // behind the last function
  // False: a target is too far from there.
  bool reaches(const char* from, const char* to) const noexcept {
    for (const std::uint64_t place : relative_) {
      std::int32_t value = 0;
      std::memcpy(&value, from + place, sizeof value);
      if (const std::int64_t moved = value - (to - from); moved != static_cast<std::int32_t>(moved))
        return false;
    }
    return true;
  }
  // Into `bytes`, a copy of the code, what it is to have at `to`.
  void apply(char* bytes, const char* from, const char* to) const noexcept {
    for (const std::uint64_t place : relative_) add<std::int32_t>(bytes + place, from - to);
    for (const std::uint64_t place : absolute_) add<std::int64_t>(bytes + place, to - from);
  }

 private:
  template <class Word>
  static void add(char* at, std::int64_t number) noexcept {
    Word word{};
    std::memcpy(&word, at, sizeof word);
    word = static_cast<Word>(word + number);
    std::memcpy(at, &word, sizeof word);
  }

  // An address entry whose target was far has become an indirect call or jump (FF), by a table that is moved
  // with the code.
  void read(const asmjit::CodeHolder& code, const asmjit::RelocEntry& entry) noexcept {
    const asmjit::Section& section = *code.JITQUILL_ASMJIT(
        sectionById, section_by_id)(entry.JITQUILL_ASMJIT(sourceSectionId, source_section_id)());
    const std::uint64_t in_section = entry.JITQUILL_ASMJIT(sourceOffset, source_offset)() +
                                     entry.format().JITQUILL_ASMJIT(valueOffset, value_offset)();
    const std::uint64_t place = section.offset() + in_section;
    switch (entry.JITQUILL_ASMJIT(relocType, reloc_type)()) {
      case asmjit::RelocType::kRelToAbs:
        absolute_.put(place);
        break;
      case asmjit::RelocType::kAbsToRel:
        relative_.put(place);
        break;
      case asmjit::RelocType::kX64AddressEntry:
        if (section.data()[in_section - 2] != 0xFF) relative_.put(place);
        break;
      default:
        break;
    }
  }

  Rows<std::uint64_t> relative_;  // rel32 whose target stays where it is
  Rows<std::uint64_t> absolute_;  // addresses in the code itself
  std::size_t size_ = 0;
  std::size_t owned_ = 0;
  std::size_t room_ = 0;
};

}  // namespace jitquill::asmjit_detail
