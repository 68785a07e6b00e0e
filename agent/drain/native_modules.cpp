#include "agent/drain/native_modules.hpp"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>

#include "agent/base/safe_copy.hpp"
#include "agent/base/text_lines.hpp"

namespace jitquill::drain {
namespace {

constexpr std::size_t kMostModules = 16'384;
constexpr std::size_t kMostPath = 4096;
constexpr std::size_t kMostNoteBytes = 4096;

// Its code is called by all programs, and has unwinding tables; there is no file.
constexpr std::string_view kKernelsObject = "[vdso]";

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;
  bool is_code = false;
  std::string_view path;
};

bool take_number(std::string_view& text, int base, std::uint64_t& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data(), end, value, base);
  if (done.ec != std::errc() || done.ptr == end) return false;
  text = without_first(text, static_cast<std::size_t>(done.ptr - text.data()) + 1);
  return true;
}

// start-end perms offset major:minor inode      path
bool take_mapping(std::string_view line, Mapping& mapping) noexcept {
  std::uint64_t ignored = 0;
  if (!take_number(line, 16, mapping.start) || !take_number(line, 16, mapping.end) || line.size() < 5)
    return false;
  mapping.is_code = line[2] == 'x';
  line = without_first(line, 5);
  const bool is_whole = take_number(line, 16, mapping.file_offset) && take_number(line, 16, ignored) &&
                        take_number(line, 16, ignored) && take_number(line, 10, mapping.inode);
  mapping.path = without_first(line, std::min(line.find_first_not_of(' '), line.size()));
  return is_whole && (mapping.path.starts_with('/') || mapping.path == kKernelsObject);
}

// see(segment) of each of the file whose beginning is mapped at `start`, until it answers true.
template <class See>
void any_segment(std::uint64_t start, See see) noexcept {
  Elf64_Ehdr header;
  if (start == 0 || !safe_read(reinterpret_cast<const void*>(start), header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
    return;
  for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!safe_read(reinterpret_cast<const void*>(start + header.e_phoff + i * sizeof segment), segment))
      return;
    if (see(segment)) return;
  }
}

void read_build_id(std::uint64_t start, FileIdentity& to) noexcept {
  any_segment(start, [&](const Elf64_Phdr& segment) {
    std::uint8_t notes[kMostNoteBytes];
    if (segment.p_type != PT_NOTE || segment.p_filesz > sizeof notes) return false;
    const auto size = static_cast<std::size_t>(segment.p_filesz);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(start + segment.p_offset);
    return safe_copy({from, size}, notes, 0) && take_build_id({notes, size}, to);
  });
}

ModuleTables read_tables(std::uint64_t start) noexcept {
  ModuleTables tables;
  std::uint64_t header = 0, first = ~std::uint64_t{0}, end = 0, at_start = 0;
  bool has_header = false;
  any_segment(start, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_GNU_EH_FRAME) {
      header = segment.p_vaddr;
      has_header = true;
    }
    if (segment.p_type != PT_LOAD) return false;
    if (segment.p_offset == 0) at_start = segment.p_vaddr;
    first = std::min(first, segment.p_vaddr);
    end = std::max(end, segment.p_vaddr + segment.p_memsz);
    return false;
  });
  const std::uint64_t bias = start - at_start;
  if (has_header && first < end) tables = {header + bias, first + bias, end + bias};
  return tables;
}

}  // namespace

NativeModules::~NativeModules() {
  for (Module& module : modules_.all()) {
    delete module.symbols;
    ::operator delete(module.path);
  }
}

void NativeModules::look() noexcept {
  constexpr std::size_t kRoom = 16 * 1024;
  GrowingArray<char> room;
  const int maps = raw::open_at(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (maps < 0) return;
  file_start_ = file_inode_ = 0;
  if (room.grow_to(kRoom, '\0'))
    (void)any_line(maps, room.all(), [this](std::string_view line) {
      see_mapping(line);
      return false;
    });
  raw::close(maps);
}

void NativeModules::see_mapping(std::string_view line) noexcept {
  Mapping mapping;
  if (!take_mapping(line, mapping)) return;
  if (mapping.file_offset == 0) {
    file_start_ = mapping.start;
    file_inode_ = mapping.inode;
  }
  if (!mapping.is_code) return;
  if (Module* const known = find_live(mapping.start, mapping.inode)) {
    known->is_seen = true;
    return;
  }
  Module module{};
  module.start = mapping.start;
  module.end = mapping.end;
  module.file_offset = mapping.file_offset;
  module.identity.inode = mapping.inode;
  if (file_inode_ == mapping.inode) module.image = file_start_;
  read_build_id(module.image, module.identity);
  place_in_time(module);
  (void)add(module, mapping.path);
}

NativeModules::Module* NativeModules::find_live(std::uint64_t start, std::uint64_t inode) noexcept {
  const auto found = std::ranges::find_if(modules_.all(), [&](const Module& module) {
    return module.start == start && module.identity.inode == inode && module.until_ns == kNever;
  });
  return found == modules_.all().end() ? nullptr : &*found;
}

bool NativeModules::Module::is_same_code(const Module& other) const noexcept {
  return start - file_offset == other.start - other.file_offset && identity.inode == other.identity.inode &&
         identity.build_id_size == other.identity.build_id_size &&
         std::memcmp(identity.build_id, other.identity.build_id, kMostBuildId) == 0;
}

// Behind what ended at its place; the same file again is the same code.
void NativeModules::place_in_time(Module& module) noexcept {
  bool is_again = false;
  for (const Module& before : modules_.all()) {
    if (!before.overlaps(module) || before.until_ns == kNever) continue;
    module.since_ns = std::max(module.since_ns, before.until_ns);
    if (!is_again) module.tag = before.is_same_code(module) ? before.tag : modules_.size() + 1;
    is_again = is_again || before.is_same_code(module);
  }
}

void NativeModules::end(Module& module, std::uint64_t now_ns) noexcept {
  module.until_ns = now_ns;
  ++ends_;
  ended_low_ = ended_high_ == 0 ? module.start : std::min(ended_low_, module.start);
  ended_high_ = std::max(ended_high_, module.end);
}

void NativeModules::end_gone(std::uint64_t now_ns) noexcept {
  if (modules_.empty()) return;
  for (Module& module : modules_.all()) module.is_seen = false;
  look();
  if (!std::ranges::any_of(modules_.all(), &Module::is_seen)) return;  // /proc could not be read
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    if (modules_[i].is_seen || modules_[i].until_ns != kNever) continue;
    end(modules_[i], now_ns);
    (void)ended_.push({i, now_ns});
    if (i < told_) (void)untold_ends_.push(i);
  }
}

bool NativeModules::add(Module module, std::string_view path) noexcept {
  if (modules_.size() == kMostModules || path.size() > kMostPath) return false;
  module.path = static_cast<char*>(::operator new(path.size() + 1, std::nothrow));
  if (module.path == nullptr) return false;
  std::memcpy(module.path, path.data(), path.size());
  module.path[path.size()] = '\0';
  if (modules_.push(module)) return true;
  ::operator delete(module.path);
  return false;
}

NativeModules::Module* NativeModules::module_of(std::uint64_t address, std::uint64_t tag) noexcept {
  for (std::size_t i = modules_.size(); i-- > 0;) {
    if (modules_[i].tag == tag && modules_[i].has(address)) return &modules_[i];
  }
  return nullptr;
}

NativeModules::Module* NativeModules::module_of(std::uint64_t address) noexcept {
  for (std::size_t i = modules_.size(); i-- > 0;) {
    if (modules_[i].has(address)) return &modules_[i];
  }
  return nullptr;
}

const NativeModules::Module* NativeModules::module_at(std::uint64_t address,
                                                      std::uint64_t when_ns) const noexcept {
  for (std::size_t i = modules_.size(); i-- > 0;) {
    const Module& module = modules_[i];
    if (module.has(address) && module.since_ns <= when_ns && when_ns < module.until_ns) return &module;
  }
  return nullptr;
}

// Code of no file where a module was is looked for again only now and then.
std::uint64_t NativeModules::find_tag(std::uint64_t address, std::uint64_t when_ns) noexcept {
  constexpr std::uint64_t kPauseNs = 1'000'000;
  constexpr std::uint64_t kOfNone = (std::uint64_t{1} << kTagBits) - 1;
  const Module* module = module_at(address, when_ns);
  if (module == nullptr && is_this_process_ && when_ns - looked_for_ns_ > kPauseNs) {
    look();
    looked_for_ns_ = when_ns;
    module = module_at(address, when_ns);
  }
  return module != nullptr ? module->tag : kOfNone;
}

// A file that cannot be read has an empty table, and is not asked again.
SymbolTable* NativeModules::symbols_of(Module& module) noexcept {
  if (module.symbols != nullptr) return module.symbols;
  module.symbols = new (std::nothrow) SymbolTable;
  const bool has_file = *module.path == '/';
  if (module.symbols != nullptr && has_file) (void)module.symbols->read(module.path, module.identity);
  return module.symbols;
}

NativeModules::Module* NativeModules::look_for(std::uint64_t address) noexcept {
  constexpr std::uint64_t kPageSize = 4096;
  Module* module = module_of(address);
  std::uint64_t& strange_page = strange_pages_[address / kPageSize % kStrangePages];
  if (module == nullptr && is_this_process_ && strange_page != address / kPageSize) {
    look();
    module = module_of(address);
    if (module == nullptr) strange_page = address / kPageSize;
  }
  return module;
}

bool NativeModules::find_tables(std::uint64_t address, ModuleTables& tables) noexcept {
  Module* const module = look_for(address);
  if (module == nullptr) return false;
  if (!module->has_tables && is_this_process_) module->tables = read_tables(module->image);
  module->has_tables = true;
  tables = module->tables;
  return true;
}

// Most modules have none, and large tables of names: those are read again if one of their functions runs.
bool NativeModules::has_hooks(Module& module) noexcept {
  if (module.has_no_hooks) return false;
  const bool was_read = module.symbols != nullptr;
  SymbolTable* const symbols = symbols_of(module);
  if (symbols != nullptr && symbols->calls_hooks()) return true;
  module.has_no_hooks = true;
  if (!was_read) {
    delete module.symbols;
    module.symbols = nullptr;
  }
  return false;
}

NativeName NativeModules::find(std::uint64_t address, std::uint64_t tag) noexcept {
  Module* module = module_of(address, tag);
  if (module == nullptr && is_this_process_ && tag == 0) {
    look();
    module = module_of(address, tag);
  }
  SymbolTable* const symbols = module == nullptr ? nullptr : symbols_of(*module);
  if (symbols == nullptr) return {};
  const std::uint64_t bias = module->start - module->file_offset;
  const NamedRange found = symbols->find(address - bias);
  if (found.name.empty()) return {};
  return {found.offset + bias, found.size, found.name};
}

NativeModules::Known NativeModules::module_with(std::uint64_t address, std::uint64_t tag) noexcept {
  const Module* const module = module_of(address, tag);
  if (module == nullptr) return {};
  return {true, static_cast<std::uint64_t>(module - modules_.data()), module->start - module->file_offset};
}

std::string_view NativeModules::path_of(std::uint64_t index) const noexcept {
  return index < modules_.size() ? modules_[static_cast<std::size_t>(index)].path : std::string_view();
}

void NativeModules::put_from(std::size_t first, Bytes& state) noexcept {
  state.uleb128(modules_.size() - first);
  for (const Module& module : modules_.all().subspan(first)) {
    const std::string_view path(module.path);
    state.uleb128(module.start).uleb128(module.end).uleb128(module.file_offset);
    state.u64(module.since_ns).u64(module.until_ns).uleb128(module.tag);
    state.uleb128(module.identity.inode).u8(module.identity.build_id_size);
    state.raw(std::string_view(reinterpret_cast<const char*>(module.identity.build_id), kMostBuildId));
    state.uleb128(path.size()).raw(path);
  }
  put_ = modules_.size();
  state.uleb128(ended_.size());
  for (const Ended& ended : ended_.all()) state.uleb128(ended.module).u64(ended.until_ns);
  ended_.clear();
}

bool NativeModules::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128(kMostModules);
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    Module module{};
    module.start = state.uleb128();
    module.end = state.uleb128();
    module.file_offset = state.uleb128();
    module.since_ns = state.u64();
    const std::uint64_t until_ns = state.u64();
    module.tag = state.uleb128();
    module.identity.inode = state.uleb128();
    module.identity.build_id_size = std::min<std::uint8_t>(state.u8(), kMostBuildId);
    const auto build_id = state.raw(kMostBuildId);
    const std::string_view path = state.text();
    if (state.failed()) return false;
    std::memcpy(module.identity.build_id, build_id.data(), kMostBuildId);
    if (until_ns != kNever) end(module, until_ns);
    if (!add(module, path)) return false;
  }
  const std::uint64_t ends = state.uleb128(kMostModules);
  for (std::uint64_t i = 0; i < ends && !state.failed(); ++i) {
    const std::uint64_t module = state.uleb128();
    const std::uint64_t until_ns = state.u64();
    if (state.failed() || module >= modules_.size()) return false;
    end(modules_[module], until_ns);
  }
  put_ = told_ = modules_.size();
  return !state.failed();
}

}  // namespace jitquill::drain
