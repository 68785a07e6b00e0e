// What the adapter asks a CodeHolder, in one place: it is where asmjit's versions differ most.
//
// Context   the thread that adds the code; valid after flatten().
#pragma once

#include <jitquill/asmjit/version.hpp>

namespace jitquill::asmjit_detail {

// visit(asmjit::BaseEmitter&) for each attached emitter.
template <class Visit>
void each_emitter(asmjit::CodeHolder& code, Visit visit) {
#if ASMJIT_LIBRARY_VERSION >= 0x011100
  for (auto* emitter = code.JITQUILL_ASMJIT(attachedFirst, attached_first)(); emitter != nullptr;
       emitter = emitter->JITQUILL_ASMJIT(_attachedNext, _attached_next))
    visit(*emitter);
#else
  for (asmjit::BaseEmitter* emitter : code.emitters()) visit(*emitter);
#endif
}

// visit(offset from base, name) for each bound label that has a name of its own.
template <class Visit>
void each_named_label(asmjit::CodeHolder& code, Visit visit) {
#if ASMJIT_LIBRARY_VERSION >= 0x011200
  std::uint32_t id = 0;
  for (const asmjit::LabelEntry& entry : code.label_entries()) {
    if (entry.is_bound() && entry.has_name() && entry.label_type() != asmjit::LabelType::kLocal)
      visit(code.label_offset_from_base(id), entry.name());
    ++id;
  }
#else
  for (const asmjit::LabelEntry* entry : code.labelEntries())
    if (entry->isBound() && entry->hasName() && entry->type() != asmjit::LabelType::kLocal)
      visit(code.labelOffsetFromBase(entry->id()), entry->name());
#endif
}

inline bool label_offset(asmjit::CodeHolder& code, std::uint32_t label, std::uint64_t& offset) noexcept {
  if (!code.JITQUILL_ASMJIT(isLabelBound, is_label_bound)(label)) return false;
  offset = code.JITQUILL_ASMJIT(labelOffsetFromBase, label_offset_from_base)(label);
  return true;
}

// Where the last executable section ends, from base: behind it lie tables and data that no code begins in.
inline std::uint64_t executable_end(const asmjit::CodeHolder& code) noexcept {
  std::uint64_t end = 0;
  for (const asmjit::Section* section : code.sections()) {
    const bool executable = asmjit::Support::test(section->flags(), asmjit::SectionFlags::kExecutable);
    const std::uint64_t size = section->JITQUILL_ASMJIT(bufferSize, buffer_size)();
    if (executable && size != 0 && section->offset() + size > end) end = section->offset() + size;
  }
  return end;
}

// The section that holds the byte at `offset` from base; the first one where none does.
inline asmjit::Section& section_at(const asmjit::CodeHolder& code, std::uint64_t offset) noexcept {
  asmjit::Section* found = nullptr;
  for (asmjit::Section* section : code.sections()) {
    const std::uint64_t size = section->JITQUILL_ASMJIT(bufferSize, buffer_size)();
    if (found == nullptr || (offset >= section->offset() && offset < section->offset() + size))
      found = section;
  }
  return *found;
}

inline asmjit::Error resolve_links(asmjit::CodeHolder& code) noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x011100
  return code.JITQUILL_ASMJIT(resolveCrossSectionFixups, resolve_cross_section_fixups)();
#else
  return code.resolveUnresolvedLinks();
#endif
}

}  // namespace jitquill::asmjit_detail
