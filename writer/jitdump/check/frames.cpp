// Call frame instructions: that each can be read, and that their rows stay inside of the code.
#include <utility>

#include "writer/jitdump/check/parts.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kLastRegister = 16;  // the return address; the vector registers need no place
constexpr std::uint8_t kAdvance = 1;         // the high two bits
constexpr std::uint8_t kOffset = 2;
constexpr std::uint8_t kRestore = 3;

const char* operands_of(std::uint8_t opcode) noexcept {
  switch (opcode) {
#define FRAME_OPCODE(number, operands) \
  case number:                         \
    return operands;
#include "writer/jitdump/check/frame_opcode.def"
#undef FRAME_OPCODE
    default:
      return nullptr;
  }
}

class FrameChecker {
 public:
  FrameChecker(std::uint64_t range, Findings& findings) : range_(range), findings_(findings) {}

  // False: what is behind cannot be read.
  bool run(ByteReader program) {
    while (program.left() != 0) {
      if (!step(program)) return false;
    }
    return true;
  }

 private:
  bool fail(std::uint64_t at, Rule rule, std::string reason) {
    findings_.add(at, rule, std::move(reason));
    return false;
  }

  bool step(ByteReader& program) {
    const std::uint64_t at = program.offset();
    const std::uint8_t byte = program.u8();
    const std::uint8_t low = byte & 0x3F;
    switch (byte >> 6) {
      case kAdvance:
        return advance(at, low);
      case kOffset:
        if (low > kLastRegister) return fail(at, Rule::kCfiOperand, "there is no register " + words(low));
        (void)program.uleb128();
        break;
      case kRestore:
        if (low > kLastRegister) return fail(at, Rule::kCfiOperand, "there is no register " + words(low));
        break;
      default:
        return step_by_operands(program, at, byte);
    }
    return !program.failed() || fail(at, Rule::kCfiOperand, "it leaves the entry");
  }

  bool step_by_operands(ByteReader& program, std::uint64_t at, std::uint8_t opcode) {
    const char* operand = operands_of(opcode);
    if (operand == nullptr) return fail(at, Rule::kCfiOpcode, "unknown instruction " + hex_words(opcode));
    for (; *operand != '\0'; ++operand) {
      if (!take(program, at, *operand)) return false;
      if (program.failed()) return fail(at, Rule::kCfiOperand, "it leaves the entry");
    }
    return true;
  }

  bool take(ByteReader& program, std::uint64_t at, char operand) {
    switch (operand) {
      case 'r': {
        const std::uint64_t number = program.uleb128();
        return number <= kLastRegister ||
               fail(at, Rule::kCfiOperand, "there is no register " + words(number));
      }
      case 's':
        (void)program.sleb128();
        return true;
      case 'b':
        (void)program.take(program.uleb128());
        return true;
      case '1':
        return advance(at, program.u8());
      case '2':
        return advance(at, program.get<std::uint16_t>());
      case '4':
        return advance(at, program.u32());
      case '+':
        ++kept_states_;
        return true;
      case '-':
        if (kept_states_ == 0) return fail(at, Rule::kCfiState, "no state was kept that it could bring back");
        --kept_states_;
        return true;
      default:
        (void)program.uleb128();
        return true;
    }
  }

  bool advance(std::uint64_t at, std::uint64_t by) {
    row_ += by;
    if (by == 0 || row_ < range_) return true;
    return fail(at, Rule::kCfiAdvance, "to byte " + words(row_) + " of " + words(range_));
  }

  std::uint64_t range_;
  Findings& findings_;
  std::uint64_t row_ = 0;
  std::uint64_t kept_states_ = 0;
};

}  // namespace

void check_frames(ByteReader initial, ByteReader instructions, std::uint64_t range, Findings& findings) {
  FrameChecker checker(range, findings);
  if (checker.run(initial)) (void)checker.run(instructions);
}

}  // namespace jitquill::jitdump
