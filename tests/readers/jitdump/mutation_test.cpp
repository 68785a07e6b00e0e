// The strict reader overlooks no byte, and survives whatever it is given.
#include <gtest/gtest.h>

#include <random>

#include "tests/readers/jitdump/edited_sample.hpp"
#include "tests/readers/jitdump/reader.hpp"

namespace jitdump_reader {
namespace {

std::string text_of(const Unwinding& unwinding) {
  std::string text = std::to_string(unwinding.mapped) + " " + std::to_string(unwinding.twin_distance);
  for (const FrameRow& row : unwinding.rows) {
    text += "|" + std::to_string(row.start) + " " + std::to_string(row.cfa_register) + " " +
            std::to_string(row.cfa_offset) + (row.cfa_by_expression ? "e" : "");
    for (const RegisterRule& rule : row.registers) {
      text += " " + std::to_string(static_cast<int>(rule.kind)) + ":" + std::to_string(rule.value);
    }
  }
  return text;
}

// All that the reader tells of a dump: two dumps that differ in a meaningful byte differ here.
std::string text_of(const Dump& dump) {
  const Header& header = dump.header;
  std::string text = std::to_string(header.machine) + " " + std::to_string(header.when) + " " +
                     std::to_string(header.flags) + (dump.closed ? " closed" : "");
  for (const Function& function : dump.functions) {
    text += "\n" + function.name + " " + std::to_string(function.address) + " " +
            std::to_string(function.index) + " " + std::to_string(function.when) + " " +
            std::to_string(function.tid) + " ";
    text.append(function.code.begin(), function.code.end());
    for (const Line& line : function.lines) {
      text += "\n" + std::to_string(line.address) + " " + std::to_string(line.line) + " " +
              std::to_string(line.column) + " " + line.file;
    }
    if (function.unwinding) text += "\n" + text_of(*function.unwinding);
  }
  return text;
}

// Bytes whose other values may mean the same: stamps of records whose stamp no reader uses, the CIE's version
// (1 and 3 differ in the size of a field whose value is below 128), and call frame instructions.
bool may_mean_the_same(std::size_t at) {
  const auto stamp_of = [at](std::size_t record) { return at >= record + 8 && at < record + 16; };
  const bool in_cie = at >= kBlobAt + 17 && at < kFdeAt;
  return stamp_of(kDebugAt) || stamp_of(kUnwindAt) || stamp_of(kCloseAt) || at == kBlobAt + 8 || in_cie ||
         (at >= kFdeOpsAt && at < kHdrAt);
}

TEST(JitdumpMutation, NoByteIsOverlooked) {
  const Bytes whole = sample();
  const std::string original = text_of(read(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (may_mean_the_same(at)) continue;
    for (unsigned flip = 1; flip < 256; ++flip) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ flip);
      Expectations expectations;
      expectations.pid = kSamplePid;
      const Dump dump = read(bytes, expectations);
      const bool noticed = !dump.violations.empty() || text_of(dump) != original;
      ASSERT_TRUE(noticed) << "byte " << at << " xor " << flip;
    }
  }
}

TEST(JitdumpMutation, SurvivesRandomDamage) {
  std::size_t reported = 0;
  std::size_t explained = 0;
  const Bytes whole = sample();
  for (std::uint32_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937 random(seed);
    Bytes bytes = whole;
    for (std::size_t count = 1 + random() % 8; count > 0; --count) mutate(bytes, random);
    const Dump dump = read(bytes);
    if (!dump.violations.empty()) ++reported;
    for (const Violation& violation : dump.violations) {
      ASSERT_LE(violation.offset, bytes.size()) << "seed " << seed;
      explained += describe(violation).size();
    }
  }
  EXPECT_GT(reported, 18'000u);  // the rest changed a name, a line, an address or code
  EXPECT_GT(explained, 0u);
}

}  // namespace
}  // namespace jitdump_reader
