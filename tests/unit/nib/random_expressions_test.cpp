// Large random expressions of every operator, against their value computed while they are made. Finds what
// single operators cannot: registers that run out, temporaries reused too early. Seeds are fixed.
#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

struct Made {
  std::string text;
  std::int64_t value;  // of a bool: 0 or 1
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {
    for (std::int64_t& each : variables_) each = number();
  }

  const std::array<std::int64_t, 4>& variables() const { return variables_; }

  Made integer(int height) {
    if (height == 0) return leaf();
    switch (pick(12)) {
      case 0:
        return negated(integer(height - 1));
      case 1:
        return unary("~", integer(height - 1), [](std::uint64_t a) { return ~a; });
      case 2:
        return call(integer(height - 1));
      case 3:
        return division(height);
      default:
        return binary(height);
    }
  }

  Made boolean(int height) {
    const Made a = height == 0 ? leaf() : integer(height - 1);
    const Made b = height == 0 ? leaf() : integer(height - 1);
    if (height > 0 && pick(3) == 0) {
      const Made c = boolean(height - 1);
      const Made d = boolean(height - 1);
      switch (pick(3)) {
        case 0:
          return {"(" + c.text + " and " + d.text + ")", c.value & d.value};
        case 1:
          return {"(" + c.text + " or " + d.text + ")", c.value | d.value};
        default:
          return {"(not " + c.text + ")", 1 - c.value};
      }
    }
    switch (pick(3)) {
      case 0:
        return {"(" + a.text + " < " + b.text + ")", a.value < b.value ? 1 : 0};
      case 1:
        return {"(" + a.text + " >= " + b.text + ")", a.value >= b.value ? 1 : 0};
      default:
        return {"(" + a.text + " != " + b.text + ")", a.value != b.value ? 1 : 0};
    }
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

  std::int64_t number() {
    switch (pick(4)) {
      case 0:
        return static_cast<std::int64_t>(random_());
      case 1:
        return std::int64_t{1} << pick(63);
      default:
        return static_cast<std::int64_t>(pick(21)) - 10;
    }
  }

  Made leaf() {
    if (pick(3) == 0) {
      const std::int64_t value = number();
      return {std::to_string(value), value};
    }
    const unsigned which = pick(4);
    return {std::string(1, static_cast<char>('a' + which)), variables_[which]};
  }

  template <class F>
  Made unary(const char* op, const Made& operand, F compute) {
    return {std::string(op) + "(" + operand.text + ")",
            static_cast<std::int64_t>(compute(static_cast<std::uint64_t>(operand.value)))};
  }

  Made negated(const Made& operand) {
    const char* op = operand.value == std::numeric_limits<std::int64_t>::min() ? "0 -% " : "-";
    return {"(" + std::string(op) + "(" + operand.text + "))",
            static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(operand.value))};
  }

  // Passes its first argument on, beside others that must not disturb it.
  Made call(const Made& operand) {
    return {"same(" + operand.text + ", " + leaf().text + ", b)", operand.value};
  }

  Made division(int height) {
    const Made a = integer(height - 1);
    const Made b = integer(height - 1);
    if (b.value == 0) return a;
    const bool does_overflow = b.value == -1 && a.value == std::numeric_limits<std::int64_t>::min();
    if (does_overflow || pick(2) == 0) {
      return {"(" + a.text + " % " + b.text + ")", b.value == -1 ? 0 : a.value % b.value};
    }
    return {"(" + a.text + " / " + b.text + ")", a.value / b.value};
  }

  Made binary(int height) {
    const Made a = integer(height - 1);
    const Made b = integer(height - 1);
    const auto x = static_cast<std::uint64_t>(a.value);
    const auto y = static_cast<std::uint64_t>(b.value);
    const auto made = [&](const char* op, std::uint64_t value) {
      return Made{"(" + a.text + op + b.text + ")", static_cast<std::int64_t>(value)};
    };
    // Of a checked operator and its wrapping one, either where both have a value.
    const auto arithmetic = [&](char op, std::uint64_t value, bool does_overflow) {
      const bool is_wrapping = does_overflow || pick(2) == 0;
      return made((std::string(" ") + op + (is_wrapping ? "% " : " ")).c_str(), value);
    };
    std::int64_t ignored = 0;
    switch (pick(8)) {
      case 0:
        return arithmetic('+', x + y, __builtin_add_overflow(a.value, b.value, &ignored));
      case 1:
        return arithmetic('-', x - y, __builtin_sub_overflow(a.value, b.value, &ignored));
      case 2:
        return arithmetic('*', x * y, __builtin_mul_overflow(a.value, b.value, &ignored));
      case 3:
        return made(" & ", x & y);
      case 4:
        return made(" | ", x | y);
      case 5:
        return made(" ^ ", x ^ y);
      case 6:
        return made(" << ", x << (y % 64));
      default:
        return made(" >> ", static_cast<std::uint64_t>(a.value >> (y % 64)));
    }
  }

  std::mt19937_64 random_;
  std::array<std::int64_t, 4> variables_{};
};

std::string arguments(const Maker& maker) {
  std::string result;
  for (const std::int64_t value : maker.variables()) {
    result += (result.empty() ? "" : ", ") + std::to_string(value);
  }
  return result;
}

constexpr std::string_view kSame = "fn same(n: int, o: int, p: int) -> int { return n; }\n";
constexpr std::string_view kParameters = "(a: int, b: int, c: int, d: int)";

TEST(RandomExpressions, OfIntHaveTheirValue) {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    Maker maker(seed);
    const Made made = maker.integer(1 + static_cast<int>(seed % 7));
    const std::string text = std::string(kSame) + "fn f" + std::string(kParameters) + " -> int { return " +
                             made.text + "; }\nfn main() { print(f(" + arguments(maker) + ")); }";
    EXPECT_EQ(run_text(text).output, std::to_string(made.value) + "\n") << "seed " << seed << "\n" << text;
  }
}

// Assigned in place again and again: the variable is operand and target at once.
TEST(RandomExpressions, AssignedToTheirOwnVariableHaveTheirValue) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    Maker maker(seed);
    const Made made = maker.integer(1 + static_cast<int>(seed % 4));
    const std::string text = std::string(kSame) + "fn f" + std::string(kParameters) + " -> int { " +
                             static_cast<char>('a' + seed % 4) + " = " + made.text + "; return " +
                             static_cast<char>('a' + seed % 4) + "; }\nfn main() { print(f(" +
                             arguments(maker) + ")); }";
    EXPECT_EQ(run_text(text).output, std::to_string(made.value) + "\n") << "seed " << seed << "\n" << text;
  }
}

TEST(RandomExpressions, OfBoolDecideAndHaveTheirValue) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    Maker maker(seed);
    const Made made = maker.boolean(1 + static_cast<int>(seed % 4));
    const std::string text =
        std::string(kSame) + "fn f" + std::string(kParameters) + " { print(" + made.text + "); if " +
        made.text + " { print(1); } else { print(0); } }\nfn main() { f(" + arguments(maker) + "); }";
    EXPECT_EQ(run_text(text).output, made.value == 1 ? "true\n1\n" : "false\n0\n") << "seed " << seed << "\n"
                                                                                   << text;
  }
}

}  // namespace
}  // namespace nib::test
