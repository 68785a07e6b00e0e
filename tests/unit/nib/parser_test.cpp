#include "nib/parser.hpp"

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

// An expression with all its parentheses, so that grouping can be compared as text.
std::string spelled(const Expression& expression);

std::string spell(const IntLiteral& node) {
  return std::to_string(node.value);
}
std::string spell(const BoolLiteral& node) {
  return node.value ? "true" : "false";
}
std::string spell(const FloatLiteral& node) {
  return std::to_string(node.value);
}
std::string spell(const StrLiteral& node) {
  return "'" + std::string(node.text) + "'";
}
std::string spell(const NullLiteral&) {
  return "null";
}
std::string spell(const VariableUse& node) {
  return std::string(node.name);
}
std::string spell(const Unary& node) {
  static constexpr std::string_view kNames[] = {"-", "~", "not "};
  return "(" + std::string(kNames[static_cast<std::size_t>(node.op)]) + spelled(*node.operand) + ")";
}
std::string spell(const Binary& node) {
  std::string op(describe(row_of(node.op).token));
  return "(" + spelled(*node.left) + op.substr(1, op.size() - 2) + spelled(*node.right) + ")";
}
std::string spell(const Call& node) {
  std::string result = std::string(node.name) + "(";
  for (const ExpressionPtr& argument : node.arguments) result += spelled(*argument) + ",";
  return result + ")";
}
std::string spell(const Index& node) {
  return spelled(*node.array) + "[" + spelled(*node.index) + "]";
}
std::string spell(const FieldUse& node) {
  return spelled(*node.record) + "." + std::string(node.name);
}
std::string spell(const BuiltinCall& node) {
  const std::string name(describe(row_of(node.builtin).token));
  std::string result;
  for (const ExpressionPtr& argument : node.arguments)
    result += (result.empty() ? "" : ",") + spelled(*argument);
  return name.substr(1, name.size() - 2) + "(" + result + ")";
}
std::string spell(const Spawn& node) {
  return "spawn " + spelled(*node.call);
}
std::string spell(const NewChannel& node) {
  return "chan(" + spelled(*node.capacity) + ")";
}
std::string spelled(const Expression& expression) {
  return std::visit([](const auto& node) { return spell(node); }, expression.node);
}

// How `text` groups, or its first error.
std::string grouped(std::string_view text) {
  const Source source = source_of("fn f() { print(" + std::string(text) + "); }");
  Diagnostics diagnostics;
  const Program program = parse(source, diagnostics);
  if (!diagnostics.empty()) return diagnostics.sorted().front().text;
  return spelled(*std::get<Print>(program.functions.at(0).body.statements.at(0).node).value);
}

using Errors = std::vector<std::string>;

TEST(Parser, ArithmeticGroupsFromTheLeft) {
  EXPECT_EQ(grouped("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(grouped("a / b * c % d"), "(((a/b)*c)%d)");
  EXPECT_EQ(grouped("a << b >> c"), "((a<<b)>>c)");
  EXPECT_EQ(grouped("a or b or c"), "((aorb)orc)");
  EXPECT_EQ(grouped("a -% b + c +% d"), "(((a-%b)+c)+%d)");
}

TEST(Parser, EachPrecedenceBindsTighterThanTheOneBefore) {
  EXPECT_EQ(grouped("a or b and c"), "(aor(bandc))");
  EXPECT_EQ(grouped("not a and b"), "((not a)andb)");
  EXPECT_EQ(grouped("not a == b"), "(not (a==b))");
  EXPECT_EQ(grouped("a == b | c"), "(a==(b|c))");
  EXPECT_EQ(grouped("a | b ^ c"), "(a|(b^c))");
  EXPECT_EQ(grouped("a ^ b & c"), "(a^(b&c))");
  EXPECT_EQ(grouped("a & b << c"), "(a&(b<<c))");
  EXPECT_EQ(grouped("a << b + c"), "(a<<(b+c))");
  EXPECT_EQ(grouped("a + b * c"), "(a+(b*c))");
  EXPECT_EQ(grouped("a +% b *% c % d"), "(a+%((b*%c)%d))");
  EXPECT_EQ(grouped("a -%-b"), "(a-%(-b))");
  EXPECT_EQ(grouped("-%a"), "expected an expression, found '-%'");
  EXPECT_EQ(grouped("-a * ~b"), "((-a)*(~b))");
}

TEST(Parser, ParenthesesGroup) {
  EXPECT_EQ(grouped("(a + b) * (c - (d))"), "((a+b)*(c-d))");
  EXPECT_EQ(grouped("f(a + 1, g(), (b))"), "f((a+1),g(),b,)");
}

TEST(Parser, IndicesBindTighterThanOperators) {
  EXPECT_EQ(grouped("-a[1]"), "(-a[1])");
  EXPECT_EQ(grouped("a[i + 1] * b[0][j]"), "(a[(i+1)]*b[0][j])");
  EXPECT_EQ(grouped("not a[i] and b[a[0]]"), "((not a[i])andb[a[0]])");
  EXPECT_EQ(grouped("f(a)[1][2]"), "f(a,)[1][2]");
  EXPECT_EQ(grouped("(a)[1]"), "a[1]");
  EXPECT_EQ(grouped("array(n + 1, array(2, true))[1][0]"), "array((n+1),array(2,true))[1][0]");
  EXPECT_EQ(grouped("len(a[1]) - 1"), "(len(a[1])-1)");
}

// The parts of the target of `a[i][j] = v` and its place.
TEST(Parser, AnElementIsATarget) {
  const Source source = source_of("fn f() { a[1][i + 2] = b[3]; }");
  Diagnostics diagnostics;
  const Program program = parse(source, diagnostics);
  ASSERT_TRUE(diagnostics.empty());
  const Statement& statement = program.functions.at(0).body.statements.at(0);
  const auto& assignment = std::get<PlaceAssignment>(statement.node);
  EXPECT_EQ(spelled(*assignment.target), "a[1][(i+2)]");
  EXPECT_EQ(assignment.target->at, (Position{1, 14}));
  EXPECT_EQ(spelled(*assignment.value), "b[3]");
}

TEST(Parser, FieldsAndIndicesFollowAValue) {
  EXPECT_EQ(grouped("-a.b[1].c + f(x).y"), "((-a.b[1].c)+f(x,).y)");
  EXPECT_EQ(grouped("a.1"), "expected a name, found '1'");
  EXPECT_EQ(errors_of("fn f() { a.b.c[1] = 2; a.b; }"), Errors{"1:27: expected '=', found ';'"});
}

TEST(Parser, RecordsHaveNamesFieldsAndTypes) {
  const Source source = source_of("record P { x: int, next: P, } fn f(p: [P]) {} record Q { y: [float] }");
  Diagnostics diagnostics;
  const Program program = parse(source, diagnostics);
  ASSERT_TRUE(diagnostics.empty());
  ASSERT_EQ(program.records.size(), 2u);
  EXPECT_EQ(program.records.at(0).name, "P");
  ASSERT_EQ(program.records.at(0).fields.size(), 2u);
  EXPECT_EQ(name_of(program, program.records.at(0).fields.at(1).type), "P");
  EXPECT_EQ(name_of(program, program.records.at(1).fields.at(0).type), "[float]");
  EXPECT_EQ(name_of(program, program.functions.at(0).variables.at(0).type), "[P]");
}

TEST(Parser, ErrorsInRecordsSayWhatWasExpected) {
  EXPECT_EQ(errors_of("record P { x }"), Errors{"1:14: expected ':', found '}'"});
  EXPECT_EQ(errors_of("record P { x: int y: int }"), Errors{"1:19: expected ',', found 'y'"});
  EXPECT_EQ(errors_of("record P {} record P {}"), Errors{"1:20: record 'P' is already defined"});
  std::string fields;
  for (std::size_t i = 0; i <= kMaxParameters; ++i) fields += "f" + std::to_string(i) + ": int,";
  const auto errors = errors_of("record P {" + fields + "}");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("more than 16 fields"), std::string::npos);
}

TEST(Parser, TypesAreAtMost32Deep) {
  const auto nested = [](int depth) {
    return errors_of("fn f(a: " + std::string(static_cast<std::size_t>(depth), '[') + "int" +
                     std::string(static_cast<std::size_t>(depth), ']') + ") {} fn main() {}");
  };
  EXPECT_EQ(nested(32), Errors{});
  ASSERT_EQ(nested(33).size(), 1u);
  EXPECT_NE(nested(33)[0].find("nested too deeply"), std::string::npos);
}

TEST(Parser, ArrayTypesNest) {
  const Source source = source_of("fn f(a: [int], b: [[bool]]) -> [[[int]]] {}");
  Diagnostics diagnostics;
  const Program program = parse(source, diagnostics);
  ASSERT_TRUE(diagnostics.empty());
  const Function& function = program.functions.at(0);
  EXPECT_EQ(name_of(program, function.variables.at(0).type), "[int]");
  EXPECT_EQ(name_of(program, function.variables.at(1).type), "[[bool]]");
  EXPECT_EQ(name_of(program, function.result), "[[[int]]]");
}

TEST(Parser, ErrorsInArraysSayWhatWasExpected) {
  EXPECT_EQ(grouped("a[]"), "expected an expression, found ']'");
  EXPECT_EQ(grouped("a[1"), "expected ']', found ')'");
  EXPECT_EQ(grouped("array(1)"), "expected ',', found ')'");
  EXPECT_EQ(grouped("array(1, 2, 3)"), "expected ')', found ','");
  EXPECT_EQ(grouped("array"), "expected '(', found ')'");
  EXPECT_EQ(grouped("len()"), "expected an expression, found ')'");
  EXPECT_EQ(grouped("len a"), "expected '(', found 'a'");
  EXPECT_EQ(errors_of("fn f(a: []) {}"),
            Errors{"1:10: expected a type ('int', a record's name, '[...]' ...), found ']'"});
  EXPECT_EQ(errors_of("fn f(a: [int) {}"), Errors{"1:13: expected ']', found ')'"});
  EXPECT_EQ(errors_of("fn f() { a[1]; }"), Errors{"1:14: expected '=', found ';'"});
  EXPECT_EQ(errors_of("fn f() { f()[1] = 2; }"), Errors{"1:13: expected ';', found '['"});
  EXPECT_EQ(errors_of("fn f() { len = 2; }"), Errors{"1:10: expected a statement, found 'len'"});
}

TEST(Parser, PrefixOperatorsNest) {
  EXPECT_EQ(grouped("- - ~a"), "(-(-(~a)))");
  EXPECT_EQ(grouped("not not a"), "(not (not a))");
  EXPECT_EQ(grouped("a - -b"), "(a-(-b))");
  EXPECT_EQ(grouped("a == not b"), "put 'not' and its operand in parentheses here");
  EXPECT_EQ(grouped("-not a"), "put 'not' and its operand in parentheses here");
}

TEST(Parser, ComparisonsDoNotChain) {
  EXPECT_EQ(grouped("a < b < c"), "comparisons cannot be chained; combine two with 'and'");
  EXPECT_EQ(grouped("a == b != c"), "comparisons cannot be chained; combine two with 'and'");
  EXPECT_EQ(grouped("(a < b) == c"), "((a<b)==c)");
}

TEST(Parser, LiteralsReachTheEndsOfInt) {
  EXPECT_EQ(grouped("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(grouped("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(grouped("0xffffffffffffffff"), "-1");
  EXPECT_EQ(grouped("-0x8000000000000000"), "-9223372036854775808");
  const std::string error = "integer literal does not fit in 64 bits";
  EXPECT_EQ(grouped("9223372036854775808"), error);
  EXPECT_EQ(grouped("-9223372036854775809"), error);
  EXPECT_EQ(grouped("99999999999999999999999999"), error);
  EXPECT_EQ(grouped("0x10000000000000000"), error);
}

TEST(Parser, ErrorsSayWhatWasExpectedAndFound) {
  EXPECT_EQ(errors_of("let"), Errors{"1:1: expected 'fn', found 'let'"});
  EXPECT_EQ(errors_of("fn 1"), Errors{"1:4: expected a name, found '1'"});
  EXPECT_EQ(errors_of("fn f("), Errors{"1:6: expected a name, found the end of the file"});
  EXPECT_EQ(errors_of("fn f(a: =) {}"),
            Errors{"1:9: expected a type ('int', a record's name, '[...]' ...), found '='"});
  EXPECT_EQ(errors_of("fn f() {\n  1;\n}"), Errors{"2:3: expected a statement, found '1'"});
  EXPECT_EQ(errors_of("fn f() { x + 1; }"), Errors{"1:12: expected '=', '[', '.' or '(', found '+'"});
  EXPECT_EQ(errors_of("fn f() { x = ; }"), Errors{"1:14: expected an expression, found ';'"});
  EXPECT_EQ(errors_of("fn f() { x = 1 }"), Errors{"1:16: expected ';', found '}'"});
}

TEST(Parser, GoesOnAtTheNextStatementAndFunction) {
  const std::string_view text =
      "fn f() {\n"
      "  let = 1;\n"
      "  if x = 2 { print(1); } else { print(2); }\n"
      "  print(3;\n"
      "}\n"
      "fn g( {}\n"
      "fn h() { return }\n";
  EXPECT_EQ(errors_of(text),
            (Errors{"2:7: expected a name, found '='", "3:8: expected '{', found '='",
                    "3:26: expected a statement, found 'else'", "4:10: expected ')', found ';'",
                    "6:7: expected a name, found '{'", "7:17: expected an expression, found '}'"}));
}

TEST(Parser, AMissingBraceIsOneError) {
  EXPECT_EQ(errors_of("fn f() { while true { if true {\nfn main() {}"),
            Errors{"2:1: expected '}', found 'fn'"});
}

TEST(Parser, TooManyParametersAreAnError) {
  std::string parameters;
  for (std::size_t i = 0; i <= kMaxParameters; ++i) {
    parameters += (i == 0 ? "p" : ", p") + std::to_string(i) + ": int";
  }
  const auto errors = errors_of("fn f(" + parameters + ") {} fn main() {}");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("more than 16 parameters"), std::string::npos);
}

std::string repeated(std::string_view piece, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += piece;
  return result;
}

TEST(Parser, DeepNestingIsAnErrorAndNotACrash) {
  for (const std::string_view open :
       {"(", "-", "~", "not ", "f(", "-(", "not (", "a[", "len(", "array(", "array(1, "}) {
    EXPECT_EQ(grouped(repeated(open, 100'000) + "1"), "nested too deeply") << open;
  }
  for (const std::string_view open : {"{", "if true {", "while true {", "if true {} else {"}) {
    const auto errors = errors_of("fn main() {" + repeated(open, 100'000));
    ASSERT_EQ(errors.size(), 1u) << open;
    EXPECT_NE(errors[0].find("nested too deeply"), std::string::npos);
  }
}

TEST(Parser, DeepTypesAreAnErrorAndNotACrash) {
  const auto errors = errors_of("fn f(a: " + repeated("[", 100'000));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("nested too deeply"), std::string::npos);
}

TEST(Parser, LongChainsOfOperatorsAreBounded) {
  EXPECT_EQ(grouped("1" + repeated("+1", 100'000)), "expression too long");
  EXPECT_EQ(grouped("1" + repeated("+1", 900)).substr(0, 3), "(((");
  EXPECT_EQ(grouped("a" + repeated("[1]", 100'000)), "expression too long");
}

TEST(Parser, LongChainsOfElseIfAreNoNesting) {
  const std::string chain = "if true {}" + repeated(" else if true {}", 5'000);
  EXPECT_EQ(errors_of("fn main() {" + chain + "}"), Errors{});
}

}  // namespace
}  // namespace nib::test
