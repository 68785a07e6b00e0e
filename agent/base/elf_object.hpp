// The exported names of an object that is loaded in this process, looked up without the loader's help.
//
// dlsym() cannot ask for the first definition in a chosen object without dlopen(), which we never call, and
// does not see objects that were opened RTLD_LOCAL.
//
// Context   [notify]: reads mapped memory only; inside dl_iterate_phdr(), which keeps the object mapped.
// Does not  look at symbol versions: the names asked for have one each.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

namespace jitquill {

class ElfObject {
 public:
  explicit ElfObject(const dl_phdr_info& info) noexcept;

  std::uintptr_t base() const noexcept { return base_; }
  std::span<const ElfW(Phdr)> segments() const noexcept { return {segments_, segment_count_}; }
  // As the loader knows it; empty for the executable.
  const char* path() const noexcept { return path_; }
  // Whether one of its segments holds the address.
  bool contains(std::uintptr_t address) const noexcept;

  // The address of what the object itself defines under this name; 0: nothing.
  std::uintptr_t find(const char* name) const noexcept;

  // Whether the object refers to the name, and does not define it.
  bool needs(const char* name) const noexcept;

  template <class Function>
  bool find(const char* name, Function*& to) const noexcept {
    to = reinterpret_cast<Function*>(find(name));
    return to != nullptr;
  }

 private:
  bool is_it(std::uint32_t symbol, const char* name) const noexcept;

  std::size_t count_of_undefined() const noexcept;

  std::uintptr_t base_;
  const char* path_;
  const ElfW(Phdr) * segments_;
  std::size_t segment_count_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  std::size_t strings_size_ = 0;
  const std::uint32_t* gnu_hash_ = nullptr;
};

}  // namespace jitquill
