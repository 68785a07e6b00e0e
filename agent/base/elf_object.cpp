#include "agent/base/elf_object.hpp"

#include <algorithm>
#include <cstring>

namespace jitquill {
namespace {

// The layout of DT_GNU_HASH: | buckets | first hashed symbol | bloom words | shift | bloom | buckets | chain
// |
constexpr std::size_t kHeadWords = 4;
constexpr std::uint32_t kChainEnd = 1;

std::uint32_t gnu_hash_of(const char* name) noexcept {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

ElfObject::ElfObject(const dl_phdr_info& info) noexcept
    : base_(info.dlpi_addr),
      path_(info.dlpi_name != nullptr ? info.dlpi_name : ""),
      segments_(info.dlpi_phdr),
      segment_count_(info.dlpi_phnum) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + info.dlpi_phdr[i].p_vaddr);
  }
  if (entry == nullptr) return;
  for (; entry->d_tag != DT_NULL; ++entry) {
    // glibc makes these absolute where it can write them; the kernel's own object (vdso) stays as it is.
    const std::uintptr_t value = entry->d_un.d_ptr;
    const std::uintptr_t address = value < base_ ? base_ + value : value;
    if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) strings_ = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_STRSZ) strings_size_ = entry->d_un.d_val;
    if (entry->d_tag == DT_GNU_HASH) gnu_hash_ = reinterpret_cast<const std::uint32_t*>(address);
  }
}

bool ElfObject::contains(std::uintptr_t address) const noexcept {
  for (std::size_t i = 0; i < segment_count_; ++i) {
    const ElfW(Phdr)& segment = segments_[i];
    if (segment.p_type == PT_LOAD && address - (base_ + segment.p_vaddr) < segment.p_memsz) return true;
  }
  return false;
}

bool ElfObject::is_it(std::uint32_t symbol, const char* name) const noexcept {
  const ElfW(Sym)& candidate = symbols_[symbol];
  return candidate.st_shndx != SHN_UNDEF && std::strcmp(strings_ + candidate.st_name, name) == 0;
}

std::uintptr_t ElfObject::find(const char* name) const noexcept {
  if (symbols_ == nullptr || strings_ == nullptr || gnu_hash_ == nullptr) return 0;
  const std::uint32_t bucket_count = gnu_hash_[0];
  const std::uint32_t first_hashed = gnu_hash_[1];
  const std::uint32_t bloom_words = gnu_hash_[2];
  if (bucket_count == 0) return 0;
  const std::uint32_t* const buckets = gnu_hash_ + kHeadWords + std::size_t{bloom_words} * 2;
  const std::uint32_t* const chain = buckets + bucket_count;
  const std::uint32_t hash = gnu_hash_of(name);
  std::uint32_t symbol = buckets[hash % bucket_count];
  if (symbol < first_hashed) return 0;
  for (;; ++symbol) {
    const std::uint32_t hashed = chain[symbol - first_hashed];
    if ((hashed | kChainEnd) == (hash | kChainEnd) && is_it(symbol, name))
      return base_ + symbols_[symbol].st_value;
    if ((hashed & kChainEnd) != 0) return 0;
  }
}

// What is not defined is in front of what is hashed. Where nothing is, ld says 1: then up to the strings,
// which linkers put behind the symbols.
std::size_t ElfObject::count_of_undefined() const noexcept {
  const std::uint32_t bucket_count = gnu_hash_[0];
  const std::uint32_t* const buckets = gnu_hash_ + kHeadWords + std::size_t{gnu_hash_[2]} * 2;
  if (std::any_of(buckets, buckets + bucket_count, [](std::uint32_t first) { return first != 0; }))
    return gnu_hash_[1];
  const auto begin = reinterpret_cast<std::uintptr_t>(symbols_);
  const auto end = reinterpret_cast<std::uintptr_t>(strings_);
  return end > begin ? (end - begin) / sizeof(ElfW(Sym)) : 0;
}

bool ElfObject::needs(const char* name) const noexcept {
  if (symbols_ == nullptr || strings_ == nullptr || gnu_hash_ == nullptr) return false;
  const std::size_t count = count_of_undefined();
  for (std::size_t i = 1; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols_[i];
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < strings_size_ &&
        std::strcmp(strings_ + symbol.st_name, name) == 0)
      return true;
  }
  return false;
}

}  // namespace jitquill
