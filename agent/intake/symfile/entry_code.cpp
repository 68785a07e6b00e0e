#include "agent/intake/symfile/entry_code.hpp"

#include <Zydis/Zydis.h>

namespace jitquill::symfile {
namespace {

constexpr std::size_t kBorder = 16;

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> code) noexcept : code_(code) {
    is_good_ = ZYAN_SUCCESS(ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
  }
  std::size_t at() const noexcept { return at_; }
  std::uint8_t byte() const noexcept { return code_[at_]; }
  void skip_byte() noexcept { ++at_; }

  // False: no instruction that is whole.
  bool next() noexcept {
    if (!is_good_ || at_ >= code_.size() ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at_, code_.size() - at_, &instruction_,
                                             operands_)))
      return false;
    at_ += instruction_.length;
    return true;
  }
  ZydisMnemonic mnemonic() const noexcept { return instruction_.mnemonic; }
  bool is_plain_return() const noexcept {
    return mnemonic() == ZYDIS_MNEMONIC_RET && instruction_.raw.imm[0].size == 0;
  }
  // What compilers put into an empty function: marks, nothing, and the upkeep of the frame pointer.
  bool does_nothing() const noexcept {
    switch (mnemonic()) {
      case ZYDIS_MNEMONIC_ENDBR64:
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_PUSH:
      case ZYDIS_MNEMONIC_POP:
        return is_register(0, ZYDIS_REGISTER_RBP);
      case ZYDIS_MNEMONIC_MOV:
        return is_register(0, ZYDIS_REGISTER_RBP) && is_register(1, ZYDIS_REGISTER_RSP);
      default:
        return false;
    }
  }

 private:
  bool is_register(std::size_t operand, ZydisRegister name) const noexcept {
    return operands_[operand].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[operand].reg.value == name;
  }

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0;
  bool is_good_ = false;
  ZydisDecoder decoder_;
  ZydisDecodedInstruction instruction_;
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
};

// Zeroes and traps are bytes, not instructions: they need not fill the gap in whole ones.
bool is_padding_up_to_border(Decoder& decoder, std::size_t size) noexcept {
  while (decoder.at() % kBorder != 0) {
    if (decoder.at() >= size) return false;
    constexpr std::uint8_t kInt3 = 0xCC;
    if (decoder.byte() == 0 || decoder.byte() == kInt3) {
      decoder.skip_byte();
      continue;
    }
    const std::size_t before = decoder.at();
    if (!decoder.next() || decoder.mnemonic() != ZYDIS_MNEMONIC_NOP) return false;
    if (before / kBorder != (decoder.at() - 1) / kBorder) return false;
  }
  return true;
}

}  // namespace

EntryCode read_entry(std::span<const std::uint8_t> code) noexcept {
  constexpr std::uint32_t kMostInstructions = 8;
  Decoder decoder(code);
  for (std::uint32_t instructions = 1; instructions <= kMostInstructions && decoder.next(); ++instructions) {
    if (decoder.is_plain_return()) {
      if (!is_padding_up_to_border(decoder, code.size())) return {};
      return {static_cast<std::uint32_t>(decoder.at()), instructions};
    }
    if (!decoder.does_nothing()) return {};
  }
  return {};
}

}  // namespace jitquill::symfile
