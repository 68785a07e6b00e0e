#include "agent/intake/gdb/symfile_code.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/gdb/beam_symfile.hpp"
#include "agent/intake/symfile/open_plugin.hpp"
#include "agent/intake/told.hpp"
#include "writer/unwind/eh_frame_read.hpp"

namespace jitquill::gdb {
namespace {

using intake::Block;
using intake::Growing;
using symfile::Function;
using symfile::Section;

// A function of this size with neither lines nor unwinding of its own is the buffer that a JIT fills: QEMU
// names all of its 128 MiB. The largest functions seen from LLVM have some hundred KiB.
constexpr std::uint64_t kArenaSize = 4 * 1024 * 1024;
constexpr std::uint64_t kMostUnwindBytes = 64 * 1024 * 1024;
// The largest module of Erlang's own has 4 MiB.
constexpr std::uint64_t kMostModuleBytes = 64 * 1024 * 1024;

std::span<const std::uint8_t> host_bytes(std::uint64_t address, std::uint64_t size) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(address), static_cast<std::size_t>(size)};
}

bool is_elf(std::span<const std::uint8_t> file) noexcept {
  constexpr char kMagic[] = {0x7F, 'E', 'L', 'F'};
  return file.size() >= sizeof kMagic && std::memcmp(file.data(), kMagic, sizeof kMagic) == 0;
}

template <class See>
bool for_each_section(std::span<const std::uint8_t> file, See see) {
  const symfile::Plugin* const plugin = intake::symfile_plugin();
  if (plugin == nullptr || !is_elf(file)) return false;
  const auto each = [](void* to, const Section* section) { (*static_cast<See*>(to))(*section); };
  return plugin->sections(file.data(), file.size(), each, &see) != 0;
}

bool has_host_content(const Section& section) {
  Block memory(static_cast<std::size_t>(section.size));
  if (!memory) return false;
  if (!safe_copy(host_bytes(section.address, section.size), memory.data(), 0)) return false;
  return std::memcmp(memory.view().data(), section.content, memory.view().size()) == 0;
}

// The .eh_frame of a symbol file: where it was loaded, in the host, where it is relocated. PHP loads none;
// its file has one whose addresses count from the start of the code.
class SymfileFrames {
 public:
  explicit SymfileFrames(std::span<const std::uint8_t> file) {
    (void)for_each_section(file, [&](const Section& section) {
      if (section.is_code && first_code_ == 0) first_code_ = section.address;
      if (section.is_eh_frame && section.size != 0 && section.size <= kMostUnwindBytes) take(section);
    });
    finder_ = unwind::FdeFinder(bytes_.view(), address_, first_code_);
  }

  std::optional<unwind::FoundFde> find(const Function& function) noexcept {
    return finder_.find(function.address, function.size);
  }

 private:
  void take(const Section& section) {
    const bool is_loaded = section.address != 0;
    if (!is_loaded && section.content == nullptr) return;
    Block bytes(static_cast<std::size_t>(section.size));
    if (!bytes) return;
    const auto* const from = is_loaded ? host_bytes(section.address, 0).data() : section.content;
    (void)safe_copy({from, bytes.view().size()}, bytes.data(), 0);  // what cannot be read ends it
    bytes_ = std::move(bytes);
    address_ = section.address;
  }

  Block bytes_;
  std::uint64_t address_ = 0;
  std::uint64_t first_code_ = 0;
  unwind::FdeFinder finder_{{}, 0};
};

void tell_one(CodeLoad& load, std::span<const std::uint8_t> bytes, Growing<std::uint64_t>& addresses) {
  if (load.address == 0 || bytes.empty() || bytes.size() > kMaxCodeSize) return;
  load.bytes = bytes;
  if (!is_done(intake::tell_load(load))) return;
  count(Counter::symfile_functions);
  if (!addresses.push(load.address)) count(Counter::news_out_of_memory);
}

struct ElfTeller {
  SymfileFrames& frames;
  Growing<std::uint64_t>& addresses;

  void tell(const Function& function) {
    const auto fde = frames.find(function);
    if (function.size > kArenaSize && function.line_count == 0 && !fde) {
      count(Counter::symfile_arenas);
      return;
    }
    CodeLoad load;
    load.address = function.address;
    load.name = {function.name, static_cast<std::size_t>(function.name_size)};
    load.lines = {function.lines, static_cast<std::size_t>(function.line_count)};
    if (fde) {
      load.unwinding.kind = Unwinding::Kind::kReady;
      load.unwinding.ready = fde->cfi;
    }
    tell_one(load, host_bytes(function.address, function.size), addresses);
  }
};

// A module's code, copied at once: its functions are many and small, and most of the time that one took was
// that of its own system call.
class ModuleCopy {
 public:
  explicit ModuleCopy(std::span<const std::uint8_t> code) noexcept : code_(code) {
    if (code.size() > kMostModuleBytes || !can_read_ends(code)) return;
    Block copy(code.size());
    if (copy && safe_copy(code, copy.data(), kTrap)) copy_ = std::move(copy);
  }
  // Where they lie if the module could not be read as one.
  std::span<const std::uint8_t> bytes_of(const BeamRange& range) const noexcept {
    const std::uint64_t offset = range.address - reinterpret_cast<std::uint64_t>(code_.data());
    const auto all = copy_.view();
    const bool is_in_copy = offset <= all.size() && range.size <= all.size() - offset;
    return is_in_copy ? all.subspan(offset, range.size) : host_bytes(range.address, range.size);
  }

 private:
  std::span<const std::uint8_t> code_;
  Block copy_;
};

// One piece of a module at a time, with the lines that followed it.
struct BeamTeller {
  const ModuleCopy& module;
  Growing<std::uint64_t>& addresses;
  Growing<Line> lines;
  BeamRange range;

  void begin(const BeamRange& next) {
    flush();
    range = next;
  }
  void add(const BeamLine& line) {
    const bool ascends = lines.size() == 0 || lines[lines.size() - 1].offset <= line.offset;
    // Without memory the function only has fewer lines.
    if (line.offset < range.size && ascends) (void)lines.push({line.offset, line.line, 0, line.file});
  }
  void flush() {
    // What lies in front of a module's code is data.
    if (range.address != 0 && !range.name.ends_with("::codeHeader")) {
      CodeLoad load;
      load.address = range.address;
      load.name = range.name;
      load.lines = lines.all();
      tell_one(load, module.bytes_of(range), addresses);
    }
    lines.keep_if([](const Line&) { return false; });
  }
};

}  // namespace

bool SymfileCode::is_final() const {
  bool is_final = true;
  (void)for_each_section(file_, [&](const Section& section) {
    if (section.is_code && section.has_relocations && section.content != nullptr && is_final)
      is_final = !has_host_content(section);
  });
  return is_final;
}

bool SymfileCode::has_code_in(std::uint64_t address, std::uint64_t size) const {
  bool has = false;
  (void)for_each_section(file_, [&](const Section& section) {
    if (!section.is_code) return;
    has = has || (section.address < address + size && address < section.address + section.size);
  });
  return has;
}

bool SymfileCode::tell(Growing<std::uint64_t>& addresses) const {
  return is_elf(file_) ? tell_elf(addresses) : tell_beam(addresses);
}

bool SymfileCode::tell_elf(Growing<std::uint64_t>& addresses) const {
  const symfile::Plugin* const plugin = intake::symfile_plugin();
  if (plugin == nullptr) return false;
  SymfileFrames frames(file_);
  ElfTeller teller{frames, addresses};
  const auto each = [](void* to, const Function* function) { static_cast<ElfTeller*>(to)->tell(*function); };
  return plugin->functions(file_.data(), file_.size(), each, &teller) != 0;
}

bool SymfileCode::tell_beam(Growing<std::uint64_t>& addresses) const {
  const BeamSymfile file(file_);
  if (!file.is_valid()) return false;
  const ModuleCopy module(file.code());
  BeamTeller teller{module, addresses, {}, {}};
  file.for_each([&](const BeamRange& range, std::uint32_t) { teller.begin(range); },
                [&](const BeamLine& line) { teller.add(line); });
  teller.flush();
  teller.lines.release();
  return true;
}

}  // namespace jitquill::gdb
