#include "writer/gdbobj/line_sequence.hpp"

#include <cstring>

#include "writer/bytes/names.hpp"
#include "writer/gdbobj/dwarf.hpp"
#include "writer/model/line_rows.hpp"

namespace jitquill::gdbobj {
namespace {

// The registers of DWARF's line machine, as far as we use them (DWARF 4, 6.2.2).
class LineMachine {
 public:
  LineMachine(Bytes& program, Bytes& changes, const CodeLoad& load, Files& files) noexcept
      : program_(program), changes_(changes), load_(load), files_(files) {}

  void row(std::uint32_t offset, const Line& line) noexcept {
    change_file(line.file != nullptr ? line.file : load_.file);
    if (line.column != column_) program_.u8(kSetColumn).uleb128(line.column);
    column_ = line.column;
    put_row(offset - offset_, std::int64_t{line.line} - std::int64_t{line_});
    offset_ = offset;
    line_ = line.line;
  }
  // | 0 | 1 + 8 | DW_LNE_set_address | address u64 |
  void start() noexcept { program_.u8(kExtended).u8(1 + kAddressSize).u8(kSetAddress).u64(load_.address); }
  void end() noexcept {
    program_.u8(kAdvancePc).uleb128(load_.bytes.size() - offset_);
    program_.u8(kExtended).u8(1).u8(kEndSequence);
  }
  bool has_all_files() const noexcept { return has_all_files_; }

 private:
  void change_file(const char* name) noexcept {
    if (name == name_) return;
    name_ = name;
    const std::uint32_t file = files_.intern(name);
    has_all_files_ = has_all_files_ && file != Files::kNone;
    if (file == file_) return;
    file_ = file;
    changes_.u32(static_cast<std::uint32_t>(program_.size())).u32(file);
  }

  // A special opcode, which advances both, if the steps are small.
  void put_row(std::uint32_t pc, std::int64_t line) noexcept {
    constexpr std::uint32_t kMostPc = (0xFF - kFirstSpecial) / kLineRange - 1;
    if (line < kLineBase || line >= kLineBase + kLineRange) {
      program_.u8(kAdvanceLine).sleb128(line);
      line = 0;
    }
    if (pc > kMostPc) {
      program_.u8(kAdvancePc).uleb128(pc);
      pc = 0;
    }
    program_.u8(static_cast<std::uint8_t>(line - kLineBase + kLineRange * pc + kFirstSpecial));
  }

  Bytes& program_;
  Bytes& changes_;
  const CodeLoad& load_;
  Files& files_;
  const char* name_ = nullptr;
  std::uint32_t file_ = Files::kNone;
  std::uint32_t offset_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 0;
  bool has_all_files_ = true;
};

}  // namespace

Status put_sequence(Bytes& program, Bytes& changes, const CodeLoad& load, Files& files) noexcept {
  if (load.lines.empty()) return Status::kOk;
  if (!has_usable_lines(load)) return Status::kLinesLeftOut;
  LineMachine machine(program, changes, load, files);
  machine.start();
  (void)for_each_row(load.lines, [&](std::uint32_t offset, const Line& line) { machine.row(offset, line); });
  machine.end();
  return machine.has_all_files() ? Status::kOk : Status::kNoMemory;
}

// | length u32 | version u16 | header_length u32 | instruction size | operations | default_is_stmt |
// line_base | line_range | opcode_base | operands of each standard opcode | directories: none, 0 | files, 0 |
void put_table_head(Bytes& out, const Files& files) noexcept {
  static constexpr std::uint8_t kOperands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  static_assert(sizeof kOperands == kFirstSpecial - 1);
  out.u32(0).u16(kDwarfVersion);
  const std::size_t length_at = out.size();
  out.u32(0).u8(1).u8(1).u8(1);
  out.u8(static_cast<std::uint8_t>(kLineBase)).u8(kLineRange).u8(kFirstSpecial).raw(kOperands);
  out.u8(0);
  for (const std::uint32_t file : files.in_table()) {
    (void)put_clean(out, files.name(file));
    out.u8(0).uleb128(0).uleb128(0).uleb128(0);  // directory, time and size: unknown
  }
  out.u8(0);
  out.patch_u32(length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

void put_numbered(Bytes& out, std::span<const std::uint8_t> program, std::span<const FileChange> changes,
                  Files& files) noexcept {
  std::size_t done = 0;
  for (const FileChange& change : changes) {
    out.raw(program.subspan(done, change.at - done));
    out.u8(kSetFile).uleb128(files.number(change.file));
    done = change.at;
  }
  out.raw(program.subspan(done));
}

}  // namespace jitquill::gdbobj
