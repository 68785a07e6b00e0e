// Each rule, when it is broken, is reported at the right place.
#include <gtest/gtest.h>

#include <set>

#include "tests/readers/jitdump/damages.hpp"
#include "tests/readers/jitdump/reader.hpp"

namespace jitdump_reader {
namespace {

TEST(JitdumpReader, ReportsEachBrokenRuleAtItsPlace) {
  for (const Damage& damage : damages()) {
    Bytes bytes = sample();
    damage.change(bytes);
    Expectations expectations;
    expectations.pid = kSamplePid;
    expectations.latest_ns = std::uint64_t{1} << 48;
    expectations.nothing_freed = damage.rule == Rule::kLoadOverlap;
    const Dump dump = read(bytes, expectations);
    bool reported = false;
    for (const Violation& v : dump.violations)
      reported = reported || (v.rule == damage.rule && v.offset == damage.offset);
    EXPECT_TRUE(reported) << name(damage.rule) << " at " << std::hex << damage.offset << " is missing in:\n"
                          << describe(dump.violations);
  }
}

TEST(JitdumpReader, IsTriedOnEachRule) {
  std::set<Rule> tried = {Rule::kFileRead, Rule::kFileName};  // in reader_test.cpp
  for (const Damage& damage : damages()) tried.insert(damage.rule);
#define RULE(id, name, consequence) EXPECT_TRUE(tried.count(Rule::id)) << name;
#include "tests/readers/jitdump/rules.def"
#undef RULE
}

}  // namespace
}  // namespace jitdump_reader
