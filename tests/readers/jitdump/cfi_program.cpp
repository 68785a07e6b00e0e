#include "tests/readers/jitdump/cfi_program.hpp"

#include <string>

namespace jitdump_reader {
namespace {

using Kind = RegisterRule::Kind;

// Unwinders keep a short stack of states; compilers and JITs need one or two.
constexpr std::size_t kMostRemembered = 64;

std::string at_pc(const FrameRow& row) {
  return " at code offset " + std::to_string(row.start);
}

// DWARF arithmetic wraps; in C++ only unsigned numbers do.
std::int64_t multiply(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a * b);
}

}  // namespace

CfiProgram::CfiProgram(Factors factors, std::uint64_t start, std::uint64_t size, Violations& found)
    : factors_(factors), start_(start), size_(size), found_(found) {
  now_.start = start;
}

const CfiProgram::Opcode* CfiProgram::find(std::uint8_t byte) {
  static constexpr Opcode kOpcodes[] = {
#define CFI_OP(code, handler, first, second) {code, &CfiProgram::handler, Operand::first, Operand::second},
#include "tests/readers/jitdump/cfi_ops.def"
#undef CFI_OP
  };
  const std::uint8_t wanted = (byte & 0xC0) != 0 ? byte & 0xC0 : byte;
  for (const Opcode& opcode : kOpcodes) {
    if (opcode.code == wanted) return &opcode;
  }
  return nullptr;
}

void CfiProgram::run_initial(Cursor instructions) {
  while (instructions.left() > 0 && step(instructions)) {
  }
  if (now_.start != start_) report(Rule::kCfiAdvance, "the CIE's own instructions advance");
  initial_ = now_;
}

void CfiProgram::run(Cursor instructions) {
  while (instructions.left() > 0 && step(instructions)) {
  }
  rows_.push_back(now_);
}

bool CfiProgram::step(Cursor& instructions) {
  at_ = instructions.offset();
  const std::uint8_t byte = instructions.u8();
  const Opcode* opcode = find(byte);
  if (opcode == nullptr) {
    report(Rule::kCfiOpcode, "unknown call frame instruction");
    return false;
  }
  const std::size_t before = found_.size();
  const std::int64_t first = operand(opcode->first, byte, instructions);
  const std::int64_t second = operand(opcode->second, byte, instructions);
  if (instructions.failed()) report(Rule::kCfiOperand, "the operand leaves the entry");
  if (found_.size() != before) return false;
  (this->*opcode->handler)(first, second);
  return found_.size() == before;
}

std::int64_t CfiProgram::operand(Operand kind, std::uint8_t opcode, Cursor& in) {
  const auto factor = static_cast<std::uint64_t>(factors_.data);
  switch (kind) {
    case Operand::kNone:
      return 0;
    case Operand::kLowDelta:
      return multiply(opcode & 0x3Fu, factors_.code);
    case Operand::kLowRegister:
      return column(opcode & 0x3Fu);
    case Operand::kDelta1:
      return multiply(in.u8(), factors_.code);
    case Operand::kDelta2:
      return multiply(in.u16(), factors_.code);
    case Operand::kDelta4:
      return multiply(in.u32(), factors_.code);
    case Operand::kRegister:
      return column(in.uleb());
    case Operand::kBytes:
      return static_cast<std::int64_t>(in.uleb());
    case Operand::kFactored:
      return multiply(in.uleb(), factor);
    case Operand::kSignedFactored:
      return multiply(static_cast<std::uint64_t>(in.sleb()), factor);
    case Operand::kNegatedFactored:
      return multiply(in.uleb(), std::uint64_t{0} - factor);
    case Operand::kBlock:
      return static_cast<std::int64_t>(in.take(in.uleb()).size());
  }
  return 0;
}

std::int64_t CfiProgram::column(std::uint64_t number) {
  if (number < kColumns) return static_cast<std::int64_t>(number);
  report(Rule::kCfiOperand, "no such register on x86-64");
  return 0;
}

void CfiProgram::report(Rule rule, const char* reason) {
  found_.push_back({at_, rule, reason});
}

void CfiProgram::advance(std::int64_t bytes, std::int64_t) {
  const auto next = now_.start + static_cast<std::uint64_t>(bytes);
  if (bytes < 0 || next > start_ + size_) {
    report(Rule::kCfiAdvance, "advances behind the end of the code");
    return;
  }
  if (next == now_.start) return;
  rows_.push_back(now_);
  now_.start = next;
}

void CfiProgram::save_at(std::int64_t reg, std::int64_t offset) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kAt, offset};
}

void CfiProgram::restore(std::int64_t reg, std::int64_t) {
  now_.registers[static_cast<std::size_t>(reg)] = initial_.registers[static_cast<std::size_t>(reg)];
}

void CfiProgram::undefined(std::int64_t reg, std::int64_t) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kUndefined, 0};
}

void CfiProgram::same_value(std::int64_t reg, std::int64_t) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kSame, 0};
}

void CfiProgram::in_register(std::int64_t reg, std::int64_t other) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kRegister, other};
}

void CfiProgram::value_at(std::int64_t reg, std::int64_t offset) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kValue, offset};
}

void CfiProgram::by_expression(std::int64_t reg, std::int64_t) {
  now_.registers[static_cast<std::size_t>(reg)] = {Kind::kExpression, 0};
}

void CfiProgram::remember(std::int64_t, std::int64_t) {
  if (remembered_.size() == kMostRemembered) {
    report(Rule::kCfiState, "remembers more states than an unwinder keeps");
    return;
  }
  remembered_.push_back(now_);
}

void CfiProgram::recall(std::int64_t, std::int64_t) {
  if (remembered_.empty()) {
    report(Rule::kCfiState, "restores a state that was not remembered");
    return;
  }
  const std::uint64_t here = now_.start;
  now_ = remembered_.back();
  now_.start = here;
  remembered_.pop_back();
}

void CfiProgram::def_cfa(std::int64_t reg, std::int64_t offset) {
  now_.has_cfa = true;
  now_.cfa_by_expression = false;
  now_.cfa_register = static_cast<std::uint64_t>(reg);
  now_.cfa_offset = offset;
}

void CfiProgram::def_cfa_register(std::int64_t reg, std::int64_t) {
  if (!now_.has_cfa || now_.cfa_by_expression) report(Rule::kCfiCfa, "changes the register of no CFA");
  now_.cfa_register = static_cast<std::uint64_t>(reg);
}

void CfiProgram::def_cfa_offset(std::int64_t offset, std::int64_t) {
  if (!now_.has_cfa || now_.cfa_by_expression) report(Rule::kCfiCfa, "changes the offset of no CFA");
  now_.cfa_offset = offset;
}

void CfiProgram::def_cfa_expression(std::int64_t, std::int64_t) {
  now_.has_cfa = true;
  now_.cfa_by_expression = true;
}

void CfiProgram::check_row(const FrameRow& row, std::uint64_t offset) {
  if (!row.has_cfa) found_.push_back({offset, Rule::kCfiCfa, "no CFA" + at_pc(row)});
  if (row.has_cfa && !row.cfa_by_expression && row.cfa_register == kRsp &&
      (row.cfa_offset < 8 || row.cfa_offset % 8 != 0)) {
    found_.push_back({offset, Rule::kCfiCfa, "impossible distance of CFA and rsp" + at_pc(row)});
  }
  if (row.registers[kReturnColumn] != RegisterRule{Kind::kAt, -8}) {
    found_.push_back({offset, Rule::kCfiReturn, "return address not at CFA - 8" + at_pc(row)});
  }
  check_saved(row, offset);
}

// A saved register lies below the return address, in a word of its own.
void CfiProgram::check_saved(const FrameRow& row, std::uint64_t offset) {
  for (std::size_t reg = 0; reg < kReturnColumn; ++reg) {
    const RegisterRule& rule = row.registers[reg];
    if (rule.kind != Kind::kAt) continue;
    bool possible = rule.value <= -16 && rule.value % 8 == 0;
    for (std::size_t other = 0; other < reg; ++other) possible = possible && row.registers[other] != rule;
    if (!possible) {
      found_.push_back(
          {offset, Rule::kCfiSaved, "impossible place of register " + std::to_string(reg) + at_pc(row)});
    }
  }
}

std::vector<FrameRow> CfiProgram::finish(std::uint64_t offset) {
  for (const FrameRow& row : rows_) check_row(row, offset);
  if (start_ == 0 && !rows_.empty()) {
    const FrameRow& entry = rows_.front();
    bool clean = entry.has_cfa && entry.cfa_register == kRsp && entry.cfa_offset == 8;
    for (std::size_t reg = 0; reg < kReturnColumn; ++reg) {
      clean = clean && entry.registers[reg].kind != Kind::kAt;
    }
    if (!clean) found_.push_back({offset, Rule::kCfiEntry, "the first row is not that of an entry"});
  }
  return std::move(rows_);
}

}  // namespace jitdump_reader
