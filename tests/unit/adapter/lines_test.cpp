// Lines lie where the instructions of their statements begin.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/adapter/capture.hpp"
#include "tests/unit/adapter/shapes.hpp"

using namespace shapes;

namespace {

// A statement here begins with mov ecx, <line * 0x01010101>, which is found again in the bytes.
std::uint32_t offset_of_statement(const capture::Code& code, std::uint32_t line) {
  const std::uint32_t pattern = line * 0x01010101u;
  for (std::size_t i = 0; i + 4 < code.bytes.size(); ++i)
    if (std::memcmp(&code.bytes[i + 1], &pattern, 4) == 0 && (code.bytes[i] & 0xF8) == 0xB8)
      return static_cast<std::uint32_t>(i);
  return UINT32_MAX;
}

std::uint32_t line_at(const capture::Code& code, std::uint32_t offset) {
  std::uint32_t line = 0;
  for (const jitquill_line& row : code.lines)
    if (row.offset <= offset) line = row.line;
  return line;
}

void expect_in_order(const capture::Code& code) {
  for (std::size_t i = 0; i < code.lines.size(); ++i) {
    EXPECT_LT(code.lines[i].offset, code.size);
    if (i != 0) {
      EXPECT_LT(code.lines[i - 1].offset, code.lines[i].offset);
    }
  }
}

template <class E>
capture::Code add_hand_lines(jitquill::JitRuntime& rt) {
  CodeHolder code;
  code.init(rt.environment());
  jitquill::Announced<E> e(&code);
  const FuncFrame frame = frame_of({.pushes = 3});
  const asmjit::Label more = e.newLabel();
  e.emitProlog(frame);
  e.line(21);
  e.mov(x86::ecx, 21 * 0x01010101);
  e.test(x86::rdi, x86::rdi);
  e.jnz(more);
  e.emitEpilog(frame);
  e.bind(more);
  e.mov(x86::edx, 0);
  e.line(22, 7);
  e.mov(x86::ecx, 22 * 0x01010101);
  e.emitEpilog(frame);
  EXPECT_EQ(e.finalize(), asmjit::kErrorOk);
  void* function = nullptr;
  EXPECT_EQ(
      rt.add(&function, &code,
             jitquill::Announcement{.name = "hand", .file = "/h.nib", .first_line = 20, .last_line = 23}),
      asmjit::kErrorOk);
  return capture::load_of("hand");
}

void expect_hand_lines(const capture::Code& code) {
  expect_in_order(code);
  ASSERT_EQ(code.lines.size(), 6u);
  EXPECT_EQ(code.file, "/h.nib");
  const std::uint32_t first = offset_of_statement(code, 21), second = offset_of_statement(code, 22);
  EXPECT_EQ(line_at(code, 0), 20u);
  EXPECT_EQ(line_at(code, first - 1), 20u);
  EXPECT_EQ(line_at(code, first), 21u);
  EXPECT_EQ(code.lines[2].line, 23u);         // the first epilog
  EXPECT_EQ(line_at(code, second - 1), 21u);  // behind it, the statement goes on
  EXPECT_EQ(code.lines[4].offset, second);
  EXPECT_EQ(code.lines[4].column, 7u);
  EXPECT_EQ(code.lines[5].line, 23u);
  EXPECT_EQ(code.bytes[code.lines[5].offset], 0x41);  // pop r13
}

}  // namespace

TEST(Lines, CompilerCommentsBecomeLines) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  x86::Compiler cc(&code);
  ASSERT_EQ(jitquill::add_line_pass(cc), asmjit::kErrorOk);
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<std::uint64_t, std::uint64_t>());
  func->frame().setPreservedFP();
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  for (std::uint32_t line = 10; line < 30; ++line) {
    cc.comment(line % 2 == 0 ? ("@" + std::to_string(line)).c_str()
                             : ("@" + std::to_string(line) + ":4").c_str());
    cc.comment("@x is not a line");
    const x86::Gp value = cc.newUInt32();
    cc.mov(value, line * 0x01010101u);
    cc.add(argument, value.r64());
  }
  cc.ret(argument);
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  void* function = nullptr;
  ASSERT_EQ(
      rt.add(&function, &code,
             jitquill::Announcement{.name = "lines", .file = "/f.nib", .first_line = 9, .last_line = 30}),
      asmjit::kErrorOk);
  const capture::Code seen = capture::load_of("lines");
  expect_in_order(seen);
  ASSERT_EQ(seen.lines.size(), 22u);
  EXPECT_EQ(seen.lines[0].line, 9u);
  for (std::uint32_t line = 10; line < 30; ++line) {
    EXPECT_EQ(seen.lines[line - 9].offset, offset_of_statement(seen, line)) << line;
    EXPECT_EQ(seen.lines[line - 9].line, line);
    EXPECT_EQ(seen.lines[line - 9].column, line % 2 == 0 ? 0u : 4u);
  }
  EXPECT_EQ(seen.lines[21].line, 30u);
  EXPECT_EQ(seen.bytes[seen.lines[21].offset], 0x48);  // mov rsp, rbp: the epilog
}

TEST(Lines, CommentsDoNotChangeTheCode) {
  std::vector<std::uint8_t> bytes[2];
  for (const bool marked : {false, true}) {
    capture::clear();
    jitquill::JitRuntime rt;
    CodeHolder code;
    code.init(rt.environment());
    x86::Compiler cc(&code);
    if (marked) jitquill::add_line_pass(cc);
    asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<std::uint64_t, std::uint64_t>());
    const x86::Gp argument = cc.newUInt64(), result = cc.newUInt64();
    func->setArg(0, argument);
    if (marked) cc.comment("@1");
    emit_pressure(cc, argument, result, 15);
    if (marked) cc.comment("@2");
    cc.ret(result);
    cc.endFunc();
    ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
    void* function = nullptr;
    ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
    bytes[marked ? 1 : 0] = capture::loads().at(0).bytes;
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

// The positions of the runtime are passed on, the rows are made of the markers.
TEST(Lines, InlineRowsFollowTheMarkers) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  x86::Compiler cc(&code);
  jitquill::add_line_pass(cc);
  cc.addFunc(FuncSignatureT<void>())->frame().setPreservedFP();
  for (const char* marker : {"@1#0", "@7#1", "@8#2", "@9#2", "@2"}) {
    cc.comment(marker);
    cc.nop();
  }
  cc.ret();
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  const jitquill_inline_position positions[] = {{-1, 1, 0, 1, 0, 0, "outer", "/a.nib"},
                                                {0, 7, 0, 5, 0, 0, "inner", "/a.nib"},
                                                {0, 8, 0, 5, 0, 0, "inner", "/a.nib"}};
  void* function = nullptr;
  ASSERT_EQ(
      rt.add(&function, &code,
             jitquill::Announcement{
                 .name = "outer", .last_line = 3, .inline_positions = positions, .inline_position_count = 3}),
      asmjit::kErrorOk);
  const capture::Code seen = capture::load_of("outer");
  EXPECT_EQ(seen.inline_position_count, 3u);
  ASSERT_EQ(seen.inline_rows.size(), 4u);  // prolog and 1, 7, 8 and 9, 2 and the epilog
  const std::size_t from[] = {0, 1, 2, 4}, position[] = {0, 1, 2, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seen.inline_rows[i].offset, i == 0 ? 0 : seen.lines.at(from[i]).offset) << i;
    EXPECT_EQ(seen.inline_rows[i].position, position[i]) << i;
  }
}

TEST(Lines, AssemblerNotesThem) {
  capture::clear();
  jitquill::JitRuntime rt;
  expect_hand_lines(add_hand_lines<x86::Assembler>(rt));
}

TEST(Lines, BuilderNotesThem) {
  capture::clear();
  jitquill::JitRuntime rt;
  expect_hand_lines(add_hand_lines<x86::Builder>(rt));
}

TEST(Lines, WithoutFirstLineTheFirstStatementCoversTheProlog) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  jitquill::Announced<x86::Assembler> a(&code);
  a.push(x86::rbx);
  a.line(5);
  a.pop(x86::rbx);
  a.ret();
  void* function = nullptr;
  ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
  const capture::Code seen = capture::loads().at(0);
  ASSERT_EQ(seen.lines.size(), 1u);
  EXPECT_EQ(seen.lines[0].offset, 0u);
  EXPECT_EQ(seen.lines[0].line, 5u);
}

TEST(Lines, NoneAreMadeUp) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  x86::Assembler a(&code);
  a.ret();
  void* function = nullptr;
  ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
  EXPECT_TRUE(capture::loads().at(0).lines.empty());
}

TEST(Lines, MarkerTexts) {
  using jitquill::asmjit_detail::kNoPosition;
  using jitquill::asmjit_detail::Marker;
  using jitquill::asmjit_detail::parse_marker;
  const auto expect = [](const char* text, std::uint32_t line, std::uint32_t column, std::uint32_t position) {
    Marker marker{};
    EXPECT_TRUE(parse_marker(text, marker)) << text;
    EXPECT_EQ(marker.line, line) << text;
    EXPECT_EQ(marker.column, column) << text;
    EXPECT_EQ(marker.position, position) << text;
  };
  expect("@12", 12, 0, kNoPosition);
  expect("@4294967295:7", 4294967295u, 7, kNoPosition);
  expect("@12#0", 12, 0, 0);
  expect("@12:3#45", 12, 3, 45);
  Marker marker{};
  for (const char* other : {"", "@", "@a", "12", "@1:", "@1:x", "@1 ", "@4294967296", "@99999999999", "@1#",
                            "@1#2 ", "@1#2:3", "@1#4294967296"})
    EXPECT_FALSE(parse_marker(other, marker)) << other;
  EXPECT_FALSE(parse_marker(nullptr, marker));
}
