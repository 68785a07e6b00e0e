#include "agent/intake/jvmti/vm_flags.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "agent/base/loaded_objects.hpp"
#include "agent/base/safe_copy.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr std::size_t kAtOnce = 64;  // rows; their copies fit on a small stack
constexpr std::uint64_t kMostRows = 1 << 14;
constexpr std::uint64_t kMostFlags = 1 << 14;
constexpr std::uint64_t kMostFlagSize = 256;

// The exported variables say how far the VM's rows lie apart: so other layouts are known as such.
template <class Row>
const Row* table(const ElfObject& object, const char* name, const char* stride) noexcept {
  const Row* first = nullptr;
  std::uint64_t size = 0;
  const bool is_read = safe_read(reinterpret_cast<const void*>(object.find(name)), first) &&
                       safe_read(reinterpret_cast<const void*>(object.find(stride)), size);
  return is_read && size == sizeof(Row) ? first : nullptr;
}

// A text as far as it fits; what cannot be read is no text that anybody looks for.
using Word = std::array<char, 32>;

std::string_view view_of(const Word& word) noexcept {
  return {word.data(), strnlen(word.data(), word.size())};
}

// Many at once: a VM has thousands.
void read_words(std::span<const char* const> from, std::span<Word> to) noexcept {
  std::array<CopyPiece, kAtOnce> pieces;
  for (std::size_t i = 0; i < from.size(); ++i) pieces[i] = {from[i], to[i].data(), sizeof(Word)};
  (void)safe_copy(std::span(pieces).first(from.size()), 0);
}

// Calls see(row) for those that are about the type of switches.
template <class Row, class See>
void for_each_row(const Row* table, See see) noexcept {
  for (std::size_t done = 0; done < kMostRows; done += kAtOnce) {
    std::array<Row, kAtOnce> rows;
    std::array<const char*, kAtOnce> types;
    std::array<Word, kAtOnce> words;
    (void)safe_copy({reinterpret_cast<const std::uint8_t*>(table + done), sizeof rows},
                    reinterpret_cast<std::uint8_t*>(rows.data()), 0);
    std::transform(rows.begin(), rows.end(), types.begin(), [](const Row& row) { return row.type; });
    read_words(types, words);
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      if (types[i] == nullptr) return;
      if (view_of(words[i]) == "JVMFlag") see(rows[i]);
    }
  }
}

// Where the list of switches lies, and what one of them looks like.
struct Layout {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t size = 0;
  std::uint64_t name = 0;
  std::uint64_t value = 0;
  int known = 0;

  bool is_whole() const noexcept {
    return known == 4 && size >= sizeof(void*) && size <= kMostFlagSize && count <= kMostFlags &&
           name <= size - sizeof(void*) && value <= size - sizeof(void*);
  }
};

void note_field(const VmField& field, Layout& layout) noexcept {
  Word word{};
  read_words({&field.name, 1}, {&word, 1});
  const std::string_view name = view_of(word);
  if (name == "flags" && safe_read(field.address, layout.first)) ++layout.known;
  if (name == "numFlags" && safe_read(field.address, layout.count)) ++layout.known;
  if (name == "_name") layout.name = field.offset, ++layout.known;
  if (name == "_addr") layout.value = field.offset, ++layout.known;
}

Layout find_layout(const VmTables& tables) noexcept {
  Layout layout;
  for_each_row(tables.fields, [&](const VmField& field) { note_field(field, layout); });
  for_each_row(tables.types, [&](const VmType& type) { layout.size = type.size; });
  return layout;
}

// The pointer in a member of the list's index-th switch.
template <class T>
T* pointer_in(std::uint64_t index, std::uint64_t member, const Layout& layout) noexcept {
  T* pointer = nullptr;
  (void)safe_read(reinterpret_cast<const void*>(layout.first + index * layout.size + member), pointer);
  return pointer;
}

std::optional<std::uint64_t> index_of(std::string_view name, const Layout& layout) noexcept {
  for (std::uint64_t done = 0; done < layout.count; done += kAtOnce) {
    const std::size_t count = std::min<std::size_t>(kAtOnce, layout.count - done);
    std::array<const char*, kAtOnce> names;
    std::array<Word, kAtOnce> words;
    std::array<CopyPiece, kAtOnce> pieces;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t at = layout.first + (done + i) * layout.size + layout.name;
      pieces[i] = {reinterpret_cast<const void*>(at), &names[i], sizeof names[i]};
    }
    (void)safe_copy(std::span(pieces).first(count), 0);
    read_words(std::span(names).first(count), words);
    for (std::size_t i = 0; i < count; ++i) {
      if (view_of(words[i]) == name) return done + i;
    }
  }
  return {};
}

}  // namespace

VmTables find_vm_tables() {
  VmTables found;
  for_each_loaded_object([&](const ElfObject& object) {
    if (found.fields != nullptr || object.find("gHotSpotVMStructs") == 0) return;
    found.fields = table<VmField>(object, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride");
    found.types = table<VmType>(object, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride");
  });
  return found;
}

std::optional<bool> vm_flag(const VmTables& tables, std::string_view name) noexcept {
  if (tables.fields == nullptr || tables.types == nullptr) return {};
  const Layout layout = find_layout(tables);
  const auto index = layout.is_whole() ? index_of(name, layout) : std::nullopt;
  std::uint8_t value = 0;
  if (!index || !safe_read(pointer_in<const void>(*index, layout.value, layout), value)) return {};
  return value != 0;
}

}  // namespace jitquill::intake::jvmti
