// The "@<line>" comment nodes from which line tables are made.
#include <asmjit/x86.h>

#include "nib/lowering.hpp"
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

// The nodes of the first function of `text`: markers as they are, calls as "call", divisions as "idiv".
std::vector<std::string> nodes_of(std::string_view text) {
  const Source source = source_of(text);
  Diagnostics diagnostics;
  Program program = parse(source, diagnostics);
  check(program, diagnostics);
  for (const Diagnostic& each : diagnostics.sorted()) ADD_FAILURE() << short_line(each);
  asmjit::CodeHolder code;
  code.init(asmjit::Environment::host());
  asmjit::x86::Compiler compiler(&code);
  const std::vector<void*> table(program.functions.size());
  CodeData data;
  std::vector<Profile> profiles(program.functions.size());
  LoweringContext context{
      .program = program, .table = table.data(), .data = data, .executable = nullptr, .profiles = profiles};
  FunctionLowering(compiler, context, program.functions.at(0), {}).run();
  std::vector<std::string> result;
  for (const asmjit::BaseNode* node = compiler.firstNode(); node != nullptr; node = node->next()) {
    if (node->isComment()) result.emplace_back(node->inlineComment());
    if (node->isInvoke()) result.emplace_back("call");
    if (node->isInst() && node->as<asmjit::InstNode>()->id() == asmjit::x86::Inst::kIdIdiv) {
      result.emplace_back("idiv");
    }
  }
  return result;
}

using Nodes = std::vector<std::string>;

// The end of each list are the ways out: of the stack check, which belongs to the function's line and is left
// out where nothing is called, of what can overflow or divide by zero, and to the collector in loops.

TEST(Markers, StandBeforeEachStatementAndTheEnd) {
  EXPECT_EQ(nodes_of("fn main() {\n  var a = 1;\n\n  a = 2; print(a);\n}\n"),
            (Nodes{"@1", "@2", "@4", "@4", "call", "@5"}));
}

TEST(Markers, StandBeforeCallsOnLinesOfTheirOwn) {
  EXPECT_EQ(
      nodes_of("fn f(a: int) -> int {\n  return f(1) +\n    f(\n      f(2)) /\n    f(3);\n}\nfn main() {}"),
      (Nodes{"@1", "@2", "call", "@4", "call", "@3", "call", "@5",   "call", "@4",  "idiv",
             "@2", "@1", "call", "@4", "call", "@4", "@2",   "call", "@4",   "call"}));
}

TEST(Markers, ALoopsConditionKeepsItsLineAtTheBottom) {
  EXPECT_EQ(nodes_of("fn main() {\n  var i = 0;\n  while i < 3 {\n    i = i + 1;\n  }\n}"),
            (Nodes{"@1", "@2", "@3", "@4", "@3", "@6", "@1", "call", "@4", "call", "@3", "call"}));
}

TEST(Markers, EachConditionOfAChainHasItsLine) {
  EXPECT_EQ(
      nodes_of("fn main() {\n  let i = 0;\n  if i == 1 {\n    print(1);\n  }\n  else if i == 2 {\n  }\n}"),
      (Nodes{"@1", "@2", "@3", "@4", "call", "@6", "@8"}));
}

}  // namespace
}  // namespace nib::test
