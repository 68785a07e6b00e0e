// Many variables beside instructions that need certain registers: division, shifts by a variable, arguments
// of calls. Seeds are fixed. Each program's callers get their registers back (nib_programs.hpp).
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

// Random assignments to variables that stay from 0 to 1023, and what they are then.
class Assignments {
 public:
  Assignments(unsigned seed, std::size_t count) : random_(seed), values_(count) {
    for (std::int64_t& each : values_) each = pick(1024);
  }

  const std::vector<std::int64_t>& values() const { return values_; }

  std::string next() {
    const std::size_t to = pick(values_.size()), a = pick(values_.size()), b = pick(values_.size());
    const std::int64_t x = values_[a], y = values_[b];
    const std::string left = name(a), right = name(b);
    std::string text;
    std::int64_t value = 0;
    switch (pick(8)) {
      case 0:
        text = left + " / (" + right + " + 1)", value = x / (y + 1);
        break;
      case 1:
        text = left + " % (" + right + " + 3)", value = x % (y + 3);
        break;
      case 2:
        text = left + " << " + right + " & 1023", value = shifted(x, y) & 1023;
        break;
      case 3:
        text = left + " >> " + right, value = x >> (y & 63);
        break;
      case 4:
        text = "six(" + left + ", " + right + ", 3, " + right + ", " + left + ", " + name(to) + ")";
        value = (x + 2 * y + 9 + 5 * y + 7 * x + 11 * values_[to]) & 1023;
        break;
      case 5:
        text = "len(slice(text, " + left + ", 1024)) & 1023", value = (1024 - x) & 1023;
        break;
      case 6:
        text = "len(str(" + left + "))", value = static_cast<std::int64_t>(std::to_string(x).size());
        break;
      default:
        text = "(" + left + " + " + right + ") / 2", value = (x + y) / 2;
        break;
    }
    values_[to] = value;
    return name(to) + " = " + text + ";\n";
  }

  static std::string name(std::size_t variable) { return "v" + std::to_string(variable); }

 private:
  static std::int64_t shifted(std::int64_t x, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << (by & 63));
  }
  unsigned pick(std::size_t count) { return static_cast<unsigned>(random_() % count); }

  std::mt19937 random_;
  std::vector<std::int64_t> values_;
};

struct Fixed {
  std::string text;
  std::string output;
};

// All of them are parameters of a function, and printed at its end.
Fixed program_of(unsigned seed, std::size_t count, std::size_t length) {
  Assignments all(seed, count);
  std::string parameters, arguments, printed;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string before = i == 0 ? "" : ", ";
    parameters += before + Assignments::name(i) + ": int";
    arguments += before + std::to_string(all.values()[i]);
    printed += "print(" + Assignments::name(i) + ");\n";
  }
  Fixed made{.text =
                 "fn six(a: int, b: int, c: int, d: int, e: int, f: int) -> int {\n"
                 "  return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f & 1023; }\n"
                 "fn line(n: int) -> str { var s = chr(120); while len(s) < n { s = s + s; } return s; }\n"
                 "fn f(" +
                 parameters + ") {\n  let text = line(1024);\n",
             .output = {}};
  for (std::size_t i = 0; i < length; ++i) made.text += all.next();
  made.text += printed + "}\nfn main() { f(" + arguments + "); }\n";
  for (const std::int64_t each : all.values()) made.output += std::to_string(each) + "\n";
  return made;
}

TEST(FixedRegisters, LeaveVariablesAndCallersAlone) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    const Fixed made = program_of(seed, 1 + seed % 14, 3 + seed % 11);
    EXPECT_EQ(run_text(made.text).output, made.output) << "seed " << seed << "\n" << made.text;
  }
}

}  // namespace
}  // namespace nib::test
