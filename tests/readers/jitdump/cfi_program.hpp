// Runs the call frame instructions of one function and yields the frame at every instruction.
//
// Context   tests and tools; x86-64 register numbers.
// Promises  all opcodes of cfi_ops.def are known; DW_CFA_set_loc (absolute addresses) is refused as unknown.
// Does not  evaluate DWARF expressions: a rule by expression is kept as such.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/readers/jitdump/cursor.hpp"
#include "tests/readers/jitdump/violation.hpp"

namespace jitdump_reader {

inline constexpr std::uint64_t kRsp = 7;
inline constexpr std::uint64_t kReturnColumn = 16;
inline constexpr std::uint64_t kColumns = 17;

struct RegisterRule {
  enum class Kind : std::uint8_t { kUnset, kUndefined, kSame, kAt, kValue, kRegister, kExpression };
  Kind kind = Kind::kUnset;
  std::int64_t value = 0;  // kAt, kValue: bytes from the CFA; kRegister: its number
  bool operator==(const RegisterRule&) const = default;
};

// The frame from `start` to the next row.
struct FrameRow {
  std::uint64_t start = 0;  // bytes from the function's start
  bool has_cfa = false;
  bool cfa_by_expression = false;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  std::array<RegisterRule, kColumns> registers{};
};

class CfiProgram {
 public:
  struct Factors {
    std::uint64_t code = 1;
    std::int64_t data = -8;
  };
  CfiProgram(Factors factors, std::uint64_t start, std::uint64_t size, Violations& found);

  void run_initial(Cursor instructions);  // the CIE's
  void run(Cursor instructions);          // the FDE's
  // Checks every row and hands them over; equal starts are merged.
  std::vector<FrameRow> finish(std::uint64_t offset);

 private:
  enum class Operand : std::uint8_t {
    kNone,
    kLowDelta,
    kLowRegister,
    kDelta1,
    kDelta2,
    kDelta4,
    kRegister,
    kBytes,
    kFactored,
    kSignedFactored,
    kNegatedFactored,
    kBlock
  };
  using Handler = void (CfiProgram::*)(std::int64_t, std::int64_t);
  struct Opcode {
    std::uint8_t code;
    Handler handler;
    Operand first;
    Operand second;
  };
  static const Opcode* find(std::uint8_t byte);

  bool step(Cursor& instructions);
  std::int64_t operand(Operand kind, std::uint8_t opcode, Cursor& instructions);
  std::int64_t column(std::uint64_t number);
  void report(Rule rule, const char* reason);
  void check_row(const FrameRow& row, std::uint64_t offset);
  void check_saved(const FrameRow& row, std::uint64_t offset);

  void nop(std::int64_t, std::int64_t) {}
  void advance(std::int64_t bytes, std::int64_t);
  void save_at(std::int64_t reg, std::int64_t offset);
  void restore(std::int64_t reg, std::int64_t);
  void undefined(std::int64_t reg, std::int64_t);
  void same_value(std::int64_t reg, std::int64_t);
  void in_register(std::int64_t reg, std::int64_t other);
  void value_at(std::int64_t reg, std::int64_t offset);
  void by_expression(std::int64_t reg, std::int64_t);
  void remember(std::int64_t, std::int64_t);
  void recall(std::int64_t, std::int64_t);
  void def_cfa(std::int64_t reg, std::int64_t offset);
  void def_cfa_register(std::int64_t reg, std::int64_t);
  void def_cfa_offset(std::int64_t offset, std::int64_t);
  void def_cfa_expression(std::int64_t, std::int64_t);

  Factors factors_;
  std::uint64_t start_;
  std::uint64_t size_;
  Violations& found_;
  std::uint64_t at_ = 0;  // file offset of the instruction being run
  FrameRow now_;
  FrameRow initial_;
  std::vector<FrameRow> remembered_;
  std::vector<FrameRow> rows_;
};

}  // namespace jitdump_reader
