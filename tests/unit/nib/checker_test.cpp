#include "nib/checker.hpp"

#include <ostream>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

struct Case {
  const char* name;
  const char* text;  // empty error: must be accepted
  const char* error;
};

// How ctest shows a case.
void PrintTo(const Case& shown, std::ostream* out) {
  *out << shown.name;
}

// Places are given in a program of one line, so columns tell them apart.
constexpr Case kCases[] = {
    {"NoMain", "fn f() {}", "1:1: no function 'main'"},
    {"EmptyFile", "", "1:1: no function 'main'"},
    {"MainWithParameter", "fn main(a: int) {}", "1:4: 'main' takes no parameters and has no result"},
    {"MainWithResult", "fn main() -> int { return 1; }", "1:4: 'main' takes no parameters and has no result"},
    {"FunctionTwice", "fn main() {} fn f() {} fn f() {}", "1:27: function 'f' is already defined"},
    {"ParameterTwice", "fn main() {} fn f(a: int, a: int) {}", "1:27: 'a' is already defined in this block"},
    {"VariableTwice", "fn main() { let a = 1; var a = 2; }", "1:24: 'a' is already defined in this block"},
    {"VariableHidesParameter", "fn main() {} fn f(a: int) { let a = 2; }",
     "1:29: 'a' is already defined in this block"},
    {"InnerBlockMayHide", "fn main() { let a = 1; { let a = true; print(a); } print(a + 1); }", ""},
    {"UnknownVariable", "fn main() { print(a); }", "1:19: no variable 'a'"},
    {"UnknownTarget", "fn main() { a = 1; }", "1:13: no variable 'a'"},
    {"NotYetDefined", "fn main() { let a = a; }", "1:21: no variable 'a'"},
    {"OutOfScope", "fn main() { { let a = 1; } print(a); }", "1:34: no variable 'a'"},
    {"FunctionAsVariable", "fn main() { print(main); }", "1:19: 'main' is a function; call it with '(...)'"},
    {"UnknownFunction", "fn main() { g(1); }", "1:13: no function 'g'"},
    {"UsedBeforeDefined", "fn main() { print(g()); } fn g() -> int { return 1; }", ""},
    {"AssignLet", "fn main() { let a = 1; a = 2; }",
     "1:24: 'a' was defined with 'let' and cannot be assigned"},
    {"AssignVar", "fn main() { var a = 1; a = 2; }", ""},
    {"AssignParameter", "fn main() {} fn f(a: int) { a = 2; }", ""},
    {"AssignOtherType", "fn main() { var a = 1; a = true; }", "1:28: expected int, found bool"},
    {"WrittenTypeDiffers", "fn main() { let a: bool = 1; }", "1:27: expected bool, found int"},
    {"WrittenTypeAgrees", "fn main() { let a: bool = 1 == 2; }", ""},
    {"ArithmeticOnBool", "fn main() { print(1 + true); }", "1:23: expected int, found bool"},
    {"WrappingArithmeticOnBool", "fn main() { print(1 +% true); }", "1:24: expected int, found bool"},
    {"WrappingLeftBool", "fn main() { print(true *% 1); }", "1:19: expected int, found bool"},
    {"BitsOfBool", "fn main() { print(true & 1); }", "1:19: expected int, found bool"},
    {"MinusBool", "fn main() { print(-true); }", "1:20: expected int or float, found bool"},
    {"BitNotBool", "fn main() { print(~true); }", "1:20: expected int, found bool"},
    {"NotInt", "fn main() { print(not 1); }", "1:23: expected bool, found int"},
    {"AndInt", "fn main() { print(true and 1); }", "1:28: expected bool, found int"},
    {"OrderOfBools", "fn main() { print(true < 1); }", "1:19: expected int, float or str, found bool"},
    {"EqualityOfBools", "fn main() { print(true == false); }", ""},
    {"EqualityOfTwoTypes", "fn main() { print(1 == true); }", "1:24: expected int, found bool"},
    {"IfInt", "fn main() { if 1 {} }", "1:16: expected bool, found int"},
    {"ElseIfInt", "fn main() { if true {} else if 2 {} }", "1:32: expected bool, found int"},
    {"WhileInt", "fn main() { while 1 {} }", "1:19: expected bool, found int"},
    {"TooFewArguments", "fn main() { f(1); } fn f(a: int, b: int) {}",
     "1:13: function 'f' takes 2 arguments, not 1"},
    {"TooManyArguments", "fn main() { f(1, 2); } fn f(a: int) {}",
     "1:13: function 'f' takes 1 argument, not 2"},
    {"ArgumentType", "fn main() { f(1, 2); } fn f(a: int, b: bool) {}", "1:18: expected bool, found int"},
    {"ValueOfNoResult", "fn main() { print(f()); } fn f() {}", "1:19: function 'f' has no result"},
    {"OperandWithNoResult", "fn main() { print(1 + f()); } fn f() {}", "1:23: function 'f' has no result"},
    {"ArgumentWithNoResult", "fn main() { g(f()); } fn f() {} fn g(a: int) {}",
     "1:15: function 'f' has no result"},
    {"ResultMayBeDropped", "fn main() { f(); } fn f() -> int { return 1; }", ""},
    {"ReturnValueOfNone", "fn main() { return 1; }", "1:20: function 'main' has no result"},
    {"ReturnNoneOfValue", "fn main() {} fn f() -> int { return; }",
     "1:30: 'return' needs a value of type int"},
    {"ReturnOtherType", "fn main() {} fn f() -> int { return true; }", "1:37: expected int, found bool"},
    {"BreakOutside", "fn main() { break; }", "1:13: 'break' outside of a loop"},
    {"ContinueOutside", "fn main() { if true { continue; } }", "1:23: 'continue' outside of a loop"},
    {"EndWithoutReturn", "fn main() {} fn f() -> int { if true { return 1; } }",
     "1:52: function 'f' can end without 'return'"},
    {"ElseReturns", "fn main() {} fn f() -> int { if true { return 1; } else { return 2; } }", ""},
    {"ElseIfMayFallThrough",
     "fn main() {} fn f() -> int { if true { return 1; } else if true { return 2; } }",
     "1:79: function 'f' can end without 'return'"},
    {"BlockReturns", "fn main() {} fn f() -> int { { return 1; } }", ""},
    {"EndlessLoopNeedsNoReturn", "fn main() {} fn f() -> int { while true { } }", ""},
    {"LoopWithBreakEnds", "fn main() {} fn f() -> int { while true { break; } }",
     "1:52: function 'f' can end without 'return'"},
    {"BreakOfInnerLoop", "fn main() {} fn f() -> int { while true { while true { break; } } }", ""},
    {"ArrayOfInts", "fn main() { let a = array(3, 1); a[0] = a[1] + len(a); }", ""},
    {"ArrayOfBools",
     "fn main() { var a: [bool] = array(3, 1 < 2); if a[0] and not a[1] { a = array(0, true); } }", ""},
    {"ArrayOfArrays",
     "fn main() { let a: [[int]] = array(2, array(3, 0)); a[0][1] = 2; a[1] = a[0]; print(a[1][1]); }", ""},
    {"ArrayArgumentAndResult",
     "fn main() { print(f(f(array(1, 2)))[0]); } fn f(a: [int]) -> [int] { return a; }", ""},
    {"ElementsOfLet", "fn main() { let a = array(1, 2); a[0] = 1; }", ""},
    {"ArrayLengthBool", "fn main() { let a = array(true, 2); }", "1:27: expected int, found bool"},
    {"ArrayLengthArray", "fn main() { let a = array(array(1, 1), 2); }", "1:27: expected int, found [int]"},
    {"ArrayOfNothing", "fn main() { let a = array(1, f()); print(a[0]); } fn f() {}",
     "1:30: function 'f' has no result"},
    {"IndexBool", "fn main() { let a = array(1, 2); print(a[true]); }", "1:42: expected int, found bool"},
    {"IndexOfInt", "fn main() { let a = 1; print(a[0]); }", "1:30: expected an array, found int"},
    {"IndexTooDeep", "fn main() { let a = array(1, 2); print(a[0][0]); }",
     "1:41: expected an array, found int"},
    {"IndexOfNothing", "fn main() { print(f()[0]); } fn f() {}", "1:19: function 'f' has no result"},
    {"LenOfInt", "fn main() { print(len(1)); }", "1:23: expected an array, found int"},
    {"LenIsInt", "fn main() { let a: bool = len(array(1, 2)); }", "1:27: expected bool, found int"},
    {"ElementOfOtherType", "fn main() { let a = array(1, 2); a[0] = true; }",
     "1:41: expected int, found bool"},
    {"ElementFromNothing", "fn main() { let a = array(1, 2); a[0] = f(); } fn f() {}",
     "1:41: function 'f' has no result"},
    {"ElementOfUnknown", "fn main() { a[0] = 1; }", "1:13: no variable 'a'"},
    {"ElementOfInt", "fn main() { let a = 1; a[0] = 1; }", "1:24: expected an array, found int"},
    {"ArrayForInt", "fn main() { f(array(1, 2)); } fn f(a: int) {}", "1:15: expected int, found [int]"},
    {"ArrayOfOtherType", "fn main() { f(array(1, 2)); } fn f(a: [bool]) {}",
     "1:15: expected [bool], found [int]"},
    {"ArrayOfOtherDepth", "fn main() { let a: [[int]] = array(1, 2); }",
     "1:30: expected [[int]], found [int]"},
    {"ReturnArrayForInt", "fn main() {} fn f(a: [int]) -> int { return a; }",
     "1:45: expected int, found [int]"},
    {"AssignOtherArray", "fn main() { var a = array(1, 2); a = array(1, true); }",
     "1:38: expected [int], found [bool]"},
    {"EqualityOfArrays", "fn main() { let a = array(1, 2); print(a == a); }",
     "1:42: arrays cannot be compared"},
    {"InequalityWithArray", "fn main() { let a = array(1, 2); print(1 != a); }",
     "1:42: arrays cannot be compared"},
    {"EqualityOfElements", "fn main() { let a = array(1, 2); print(a[0] == len(a)); }", ""},
    {"OrderOfArrays", "fn main() { let a = array(1, 2); print(a < 1); }",
     "1:40: expected int, float or str, found [int]"},
    {"SumOfArrays", "fn main() { let a = array(1, 2); print(1 + a); }", "1:44: expected int, found [int]"},
    {"ArrayAsCondition", "fn main() { if array(1, true) {} }", "1:16: expected bool, found [bool]"},
    {"PrintArray", "fn main() { print(array(1, 2)); }", "1:19: an array cannot be printed"},
    {"MainWithArray", "fn main(a: [int]) {}", "1:4: 'main' takes no parameters and has no result"},
    {"FloatAndInt", "fn main() { print(1.5 + 1); }", "1:25: expected float, found int"},
    {"RestOfFloats", "fn main() { print(1.5 % 2.0); }", "1:19: expected int, found float"},
    {"Conversions", "fn main() { print(float(1) + sqrt(2.0)); print(int(1.5) + 1); }", ""},
    {"IntOfInt", "fn main() { print(int(1)); }", "1:23: expected float, found int"},
    {"StrsAreAdded", "fn main() { let s = \"a\" + str(1) + chr(2); print(s[0] + len(s)); print(s < s); }",
     ""},
    {"StrAndInt", "fn main() { print(\"a\" + 1); }", "1:25: expected str, found int"},
    {"StrTimes", "fn main() { print(\"a\" * 2); }", "1:19: expected int or float, found str"},
    {"StrIsConstant", "fn main() { let s = \"ab\"; s[0] = 1; }",
     "1:28: the bytes of a str cannot be assigned"},
    {"StrOfArray", "fn main() { print(str(array(1, 2))); }", "1:23: an array cannot be made a str"},
    {"SliceOfArray", "fn main() { print(slice(array(1, 2), 0, 1)); }", "1:25: expected str, found [int]"},
    {"Records", "record P { x: int, p: P } fn main() { let p = P(1, null); p.p = p; print(p.p.p.x + 1); }",
     ""},
    {"RecordsBeforeTheirDefinition", "fn main() { f(P(2)); } fn f(p: P) {} record P { x: int }", ""},
    {"RecordTwice", "record P { x: int, x: int } fn main() {}",
     "1:20: 'x' is already defined in this record"},
    {"RecordAndFunction", "record P {} fn P() {} fn main() {}", "1:16: 'P' is already the name of a record"},
    {"NoRecord", "fn main() { let a: P = 1; }", "1:20: no type 'P'"},
    {"NoField", "record P { x: int } fn main() { print(P(1).y); }", "1:43: record 'P' has no field 'y'"},
    {"FieldOfInt", "fn main() { let a = 1; print(a.x); }", "1:30: expected a record, found int"},
    {"FieldType", "record P { x: int } fn main() { P(1).x; }", "1:37: expected ';', found '.'"},
    {"FieldAssigned", "record P { x: int } fn main() { let p = P(1); p.x = true; }",
     "1:53: expected int, found bool"},
    {"RecordArguments", "record P { x: int } fn main() { P(); }", "1:33: record 'P' takes 1 argument, not 0"},
    {"RecordArgument", "record P { x: int } fn main() { P(1.0); }", "1:35: expected int, found float"},
    {"RecordOfOtherType", "record P {} record Q {} fn main() { let p: P = Q(); }",
     "1:48: expected P, found Q"},
    {"EqualityOfRecords", "record P {} fn main() { print(P() == null); print(null != P()); }", ""},
    {"OrderOfRecords", "record P {} fn main() { print(P() < P()); }",
     "1:31: expected int, float or str, found P"},
    {"PrintRecord", "record P {} fn main() { print(P()); }", "1:31: a record cannot be printed"},
    {"NullForRecord", "record P {} fn f(p: P) -> P { return null; } fn main() { f(null); }", ""},
    {"NullForInt", "fn main() { f(null); } fn f(n: int) {}", "1:15: expected int, found null"},
    {"NullOfUnknown", "fn main() { let a = null; print(a == 1); }",
     "1:21: which record's 'null' this is must be written"},
    {"ArrayOfNulls", "fn main() { let a = array(1, null); }",
     "1:30: which record's 'null' this is must be written"},
    {"NullField", "fn main() { print(null.x); }", "1:19: expected a record, found null"},
    {"LoopMayNotRun", "fn main() {} fn f() -> int { while 1 == 1 { return 1; } }",
     "1:57: function 'f' can end without 'return'"},
};

class Checker : public testing::TestWithParam<Case> {};

TEST_P(Checker, FindsExactlyThisError) {
  std::vector<std::string> expected;
  if (*GetParam().error != '\0') expected.push_back(GetParam().error);
  EXPECT_EQ(errors_of(GetParam().text), expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Rules, Checker, testing::ValuesIn(kCases),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(CheckerRun, OneMistakeIsReportedOnce) {
  EXPECT_EQ(errors_of("fn main() { let a = array(1, b); print(a[0] + 1); a[1] = true; print(len(a) + a); }"),
            std::vector<std::string>{"1:30: no variable 'b'"});
  EXPECT_EQ(errors_of("fn main() { let a = b; print(a + 1); print(a and true); print(g(a) + a); }"),
            (std::vector<std::string>{"1:21: no variable 'b'", "1:63: no function 'g'"}));
}

TEST(CheckerRun, SeveralMistakesAreReportedInOrder) {
  EXPECT_EQ(errors_of("fn main() {\n  print(a);\n  print(1 + true);\n}\nfn f() -> int {}"),
            (std::vector<std::string>{"2:9: no variable 'a'", "3:13: expected int, found bool",
                                      "5:16: function 'f' can end without 'return'"}));
}

TEST(CheckerRun, ErrorsAreLimited) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "print(a" + std::to_string(i) + ");";
  EXPECT_EQ(errors_of("fn main() {" + body + "}").size(), Diagnostics::kLimit);
}

}  // namespace
}  // namespace nib::test
