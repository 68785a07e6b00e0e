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
  if (!copy_whole(host_bytes(section.address, section.size), memory.data())) return false;
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

bool is_tellable(std::uint64_t address, std::uint64_t size) noexcept {
  return address != 0 && size != 0 && size <= kMaxCodeSize;
}

void note_told(const CodeLoad& load, Status status, Growing<std::uint64_t>& addresses) {
  if (!is_done(status)) return;
  count(Counter::symfile_functions);
  if (!addresses.push(load.address)) count(Counter::news_out_of_memory);
}

struct ElfTeller {
  SymfileFrames& frames;
  Growing<std::uint64_t>& addresses;
  std::uint64_t since_ns;

  void tell(const Function& function) {
    const auto fde = frames.find(function);
    if (function.size > kArenaSize && function.line_count == 0 && !fde) {
      count(Counter::symfile_arenas);
      return;
    }
    CodeLoad load;
    load.address = function.address;
    load.since_ns = since_ns;
    load.name = {function.name, static_cast<std::size_t>(function.name_size)};
    load.lines = {function.lines, static_cast<std::size_t>(function.line_count)};
    if (fde) {
      load.unwinding.kind = Unwinding::Kind::kReady;
      load.unwinding.ready = fde->cfi;
    }
    if (!is_tellable(function.address, function.size)) return;
    load.bytes = host_bytes(function.address, function.size);
    const Status status = intake::tell_load(load);
    note_told(load, status, addresses);
  }
};

// A module's code, copied at once: its functions are many and small, and most of the time that one took was
// that of its own system call.
class ModuleCopy {
 public:
  explicit ModuleCopy(std::span<const std::uint8_t> code) noexcept : code_(code) {
    if (code.size() > kMostModuleBytes) return;
    Block copy(code.size());
    if (copy && copy_whole(code, copy.data())) copy_ = std::move(copy);
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

// Gathers pieces of a module, each with the lines that follow it, and tells many at once.
class BeamTeller {
 public:
  BeamTeller(const ModuleCopy& module, Growing<std::uint64_t>& addresses) noexcept
      : module_(module), addresses_(addresses) {}
  ~BeamTeller() {
    loads_.release();
    lines_.release();
  }
  BeamTeller(const BeamTeller&) = delete;
  BeamTeller& operator=(const BeamTeller&) = delete;

  void begin(const BeamRange& range) {
    end_piece();
    if (loads_.size() == kMostAtOnce) tell();
    // What lies in front of a module's code is data.
    is_piece_ = is_tellable(range.address, range.size) && !range.name.ends_with("::codeHeader");
    if (!is_piece_) return;
    CodeLoad load;
    load.address = range.address;
    load.name = range.name;
    load.bytes = module_.bytes_of(range);
    is_piece_ = loads_.push(load);
    if (!is_piece_) count(Counter::news_out_of_memory);
    first_line_ = lines_.size();
  }
  void add(const BeamLine& line) {
    if (!is_piece_) return;
    const bool ascends = lines_.size() == first_line_ || lines_[lines_.size() - 1].offset <= line.offset;
    const bool is_inside = line.offset < loads_[loads_.size() - 1].bytes.size();
    // Without memory the function only has fewer lines.
    if (is_inside && ascends) (void)lines_.push({line.offset, line.line, 0, line.file});
  }
  void tell() {
    end_piece();
    const Line* next = lines_.all().data();
    for (CodeLoad& load : loads_.all()) {
      load.lines = {next, load.lines.size()};
      next += load.lines.size();
    }
    Status told[kMostAtOnce];
    intake::tell_loads(loads_.all(), std::span(told).first(loads_.size()));
    for (std::size_t i = 0; i < loads_.size(); ++i) note_told(loads_[i], told[i], addresses_);
    loads_.keep_if([](const CodeLoad&) { return false; });
    lines_.keep_if([](const Line&) { return false; });
  }

 private:
  static constexpr std::size_t kMostAtOnce = 256;

  // Where its lines lie is known when no more come, which may move them: until then only how many they are.
  void end_piece() {
    if (is_piece_) loads_[loads_.size() - 1].lines = lines_.all().subspan(first_line_);
    is_piece_ = false;
  }

  const ModuleCopy& module_;
  Growing<std::uint64_t>& addresses_;
  Growing<CodeLoad> loads_;
  Growing<Line> lines_;
  std::size_t first_line_ = 0;
  bool is_piece_ = false;
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

bool SymfileCode::tell(Growing<std::uint64_t>& addresses, std::uint64_t since_ns) const {
  return is_elf(file_) ? tell_elf(addresses, since_ns) : tell_beam(addresses);
}

bool SymfileCode::tell_elf(Growing<std::uint64_t>& addresses, std::uint64_t since_ns) const {
  const symfile::Plugin* const plugin = intake::symfile_plugin();
  if (plugin == nullptr) return false;
  SymfileFrames frames(file_);
  ElfTeller teller{frames, addresses, since_ns};
  const auto each = [](void* to, const Function* function) { static_cast<ElfTeller*>(to)->tell(*function); };
  return plugin->functions(file_.data(), file_.size(), each, &teller) != 0;
}

bool SymfileCode::tell_beam(Growing<std::uint64_t>& addresses) const {
  const BeamSymfile file(file_);
  if (!file.is_valid()) return false;
  const ModuleCopy module(file.code());
  BeamTeller teller(module, addresses);
  file.for_each([&](const BeamRange& range, std::uint32_t) { teller.begin(range); },
                [&](const BeamLine& line) { teller.add(line); });
  teller.tell();
  return true;
}

}  // namespace jitquill::gdb
