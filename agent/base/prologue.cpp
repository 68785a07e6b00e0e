#include "agent/base/prologue.hpp"

#include <algorithm>

namespace jitquill {
namespace {

enum class Operands : std::uint8_t { kNone, kModRm, kModRmByte, kModRmWord };  // Byte, Word: an immediate

struct Form {
  std::uint8_t first;  // opcodes, of the one-byte map
  std::uint8_t last;
  Operands operands;
};

constexpr Form kForms[] = {
    {0x50, 0x57, Operands::kNone},       // push
    {0x31, 0x31, Operands::kModRm},      // xor
    {0x33, 0x33, Operands::kModRm},      //
    {0x81, 0x81, Operands::kModRmWord},  // add, or, and, sub, ... with an immediate
    {0x83, 0x83, Operands::kModRmByte},  //
    {0x85, 0x85, Operands::kModRm},      // test
    {0x89, 0x89, Operands::kModRm},      // mov
    {0x8B, 0x8B, Operands::kModRm},      //
    {0x8D, 0x8D, Operands::kModRm},      // lea
};

constexpr std::uint8_t kFsPrefix = 0x64;  // the stack protector's canary
constexpr bool is_rex(std::uint8_t byte) noexcept {
  return (byte & 0xF0) == 0x40;
}

// Of | mod 2 | reg 3 | rm 3 | and what it asks for; 0 = relative to the instruction, or cut off.
std::size_t operand_size(std::span<const std::uint8_t> code) noexcept {
  if (code.empty()) return 0;
  const int mode = code[0] >> 6;
  const int base = code[0] & 7;
  if (mode == 3) return 1;
  if (mode == 0 && base == 5) return 0;
  std::size_t size = 1;
  bool has_no_base = false;
  if (base == 4) {
    if (code.size() < 2) return 0;
    has_no_base = mode == 0 && (code[1] & 7) == 5;
    ++size;
  }
  if (mode == 1) return size + 1;
  return mode == 2 || has_no_base ? size + 4 : size;
}

std::size_t immediate_size(Operands operands) noexcept {
  if (operands == Operands::kModRmByte) return 1;
  return operands == Operands::kModRmWord ? 4 : 0;
}

// 0 = not known, or cut off.
std::size_t instruction_size(std::span<const std::uint8_t> code) noexcept {
  std::size_t at = 0;
  if (at < code.size() && code[at] == kFsPrefix) ++at;
  if (at < code.size() && is_rex(code[at])) ++at;
  if (at >= code.size()) return 0;
  const std::uint8_t opcode = code[at++];
  const auto* const form = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& candidate) {
    return opcode >= candidate.first && opcode <= candidate.last;
  });
  if (form == std::end(kForms)) return 0;
  if (form->operands != Operands::kNone) {
    const std::size_t operand = operand_size(code.subspan(at));
    if (operand == 0) return 0;
    at += operand + immediate_size(form->operands);
  }
  return at <= code.size() ? at : 0;
}

}  // namespace

std::size_t movable_prologue(std::span<const std::uint8_t> code, std::size_t wanted) noexcept {
  std::size_t size = 0;
  while (size < wanted) {
    const std::size_t next = instruction_size(code.subspan(size));
    if (next == 0) return 0;
    size += next;
  }
  return size;
}

}  // namespace jitquill
