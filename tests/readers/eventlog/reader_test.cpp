// The strict reader walks a log spelled by hand, and reports each broken rule.
#include "tests/readers/eventlog/reader.hpp"

#include <gtest/gtest.h>

namespace eventlog_reader {
namespace {

std::string be(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string type(std::uint16_t number, std::uint16_t size, const std::string& text = "t",
                 const std::string& extra = "") {
  return std::string("etb\0", 4) + be(number, 2) + be(size, 2) + be(text.size(), 4) + text +
         be(extra.size(), 4) + extra + std::string("ete\0", 4);
}

std::string log(const std::string& types, const std::string& records) {
  return "hdrbhetb" + types + "hetehdredatb" + records;
}

const std::string kTypes = type(0, 4) + type(1, 4) + type(2, 10) + type(8, 6) + type(9, 0) + type(18, 14) +
                           type(19, 0xFFFF) + type(30, 0xFFFF) + type(42, 0xFFFF) + type(58, 0xFFFF) +
                           type(59, 0) + type(163, 0xFFFF) + type(164, 0xFFFF) + type(300, 2, "ours", "x");
const std::string kEnd = "\xFF\xFF";

std::string record(std::uint16_t number, std::uint64_t when, const std::string& payload) {
  return be(number, 2) + be(when, 8) + payload;
}
std::string variable(std::uint16_t number, std::uint64_t when, const std::string& payload) {
  return record(number, when, be(payload.size(), 2) + payload);
}
std::string block(std::uint64_t size, std::uint16_t cap, std::uint64_t end = 1000) {
  return record(18, 1, be(size, 4) + be(end, 8) + be(cap, 2));
}
std::string in_block(const std::string& records, std::uint16_t cap = 0) {
  return block(24 + records.size(), cap) + records;
}

TEST(EventlogReader, WalksEveryByte) {
  const std::string run = record(0, 10, be(7, 4)) + record(1, 11, be(7, 4)) +
                          record(2, 12, be(7, 4) + be(5, 2) + be(0, 4)) + record(300, 12, "ab");
  const std::string texts = variable(58, 5, "mark") + variable(30, 5, be(0, 4) + std::string("a\0bc\0", 5)) +
                            variable(42, 6, "name" + be(9, 4)) +
                            variable(164, 7, "\1" + be(64, 8) + std::string("s\0", 2)) +
                            variable(163, 8, "\1" + be(8, 8) + "\2" + be(3, 4) + be(4, 4));
  const File file = read(log(kTypes, in_block(run, 3) + texts + kEnd));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_TRUE(file.has_end);
  EXPECT_EQ(file.types.at(300).description, "ours");
  EXPECT_EQ(file.types.at(300).extra, "x");
  ASSERT_EQ(file.events.size(), 10u);
  EXPECT_EQ(file.named("RUN_THREAD").at(0).capability, 3u);
  EXPECT_EQ(file.named("STOP_THREAD").at(0).numbers, (std::vector<std::uint64_t>{7, 5, 0}));
  EXPECT_EQ(file.events[4].texts, (std::vector<std::string>{"ab"}));
  EXPECT_EQ(file.named("USER_MARKER").at(0).capability, kNoCapability);
  EXPECT_EQ(file.named("PROGRAM_ARGS").at(0).texts, (std::vector<std::string>{"a", "bc"}));
  EXPECT_EQ(file.named("INTERN_STRING").at(0).numbers, (std::vector<std::uint64_t>{9}));
  EXPECT_EQ(file.named("HEAP_PROF_SAMPLE_STRING").at(0).texts, (std::vector<std::string>{"s"}));
  EXPECT_EQ(file.named("HEAP_PROF_SAMPLE_COST_CENTRE").at(0).numbers,
            (std::vector<std::uint64_t>{1, 8, 2, 3, 4}));
}

// As GHC writes GC_END.
TEST(EventlogReader, CountsStepsBackInTime) {
  const File file =
      read(log(kTypes, in_block(record(9, 20, "") + record(9, 19, "") + record(9, 21, "")) + kEnd));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.backward_steps, 1u);
}

struct Damage {
  std::string bytes;
  Rule rule;
};

void expect_rule(const Damage& damage) {
  const File file = read(damage.bytes);
  ASSERT_FALSE(file.violations.empty()) << name(damage.rule);
  EXPECT_EQ(name(file.violations[0].rule), std::string(name(damage.rule))) << describe(file.violations);
}

TEST(EventlogReader, ReportsWhatIsWrongInTheHeader) {
  const Damage damages[] = {
      {"", Rule::kHeader},
      {"hdrb", Rule::kHeader},
      {log(kTypes, kEnd).substr(0, 40), Rule::kHeader},
      {log(type(18, 14) + type(0, 8), kEnd), Rule::kDeclaration},
      {log(type(18, 14) + type(19, 4), kEnd), Rule::kDeclaration},
      {log(type(0, 4), kEnd), Rule::kDeclaration},
      {log(type(18, 14) + type(18, 14), kEnd), Rule::kTwice},
      {log(type(18, 14) + type(58, 0xFFFF), kEnd), Rule::kStopCodes},
      {log(type(18, 14) + type(300, 1, "\xC3"), kEnd), Rule::kUtf8},
  };
  for (const Damage& damage : damages) expect_rule(damage);
}

TEST(EventlogReader, ReportsWhatIsWrongInTheData) {
  const Damage damages[] = {
      {log(kTypes, record(301, 1, "") + kEnd), Rule::kUndeclared},
      {log(kTypes, ""), Rule::kEnd},
      {log(kTypes, kEnd + variable(19, 1, "a")), Rule::kEnd},
      {log(kTypes, kEnd + kEnd), Rule::kEnd},
      {log(kTypes, variable(19, 1, "abc").substr(0, 14)), Rule::kTorn},
      {log(kTypes, variable(19, 1, "\xED\xA0\x80") + kEnd), Rule::kUtf8},
      {log(kTypes, variable(19, 1, "\xC0\x80") + kEnd), Rule::kUtf8},
      {log(kTypes, variable(164, 1, "\1" + be(1, 8) + "no NUL") + kEnd), Rule::kPayload},
      {log(kTypes, variable(163, 1, "\1" + be(1, 8) + "\1" + be(1, 4) + "x") + kEnd), Rule::kPayload},
      {log(kTypes, block(23, 0) + kEnd), Rule::kBlock},
      {log(kTypes, block(30, 0) + record(9, 1, "") + kEnd), Rule::kBlock},
      {log(kTypes, block(24, 0, 0) + kEnd), Rule::kBlock},
      {log(kTypes, block(200, 0) + kEnd), Rule::kBlock},
      {log(kTypes, in_block(block(24, 1)) + kEnd), Rule::kBlock},
      {log(kTypes, record(9, 1, "") + kEnd), Rule::kCapability},
      {log(kTypes, in_block(record(9, 1, ""), kNoCapability) + kEnd), Rule::kCapability},
      {log(kTypes, in_block(record(2, 1, be(7, 4) + be(4, 2) + be(0, 4))) + kEnd), Rule::kStopStatus},
  };
  for (const Damage& damage : damages) expect_rule(damage);
}

TEST(EventlogReader, ReportsThreadsOutOfOrder) {
  const auto create = [](std::uint64_t when, std::uint32_t t) { return record(0, when, be(t, 4)); };
  const auto run = [](std::uint64_t when, std::uint32_t t) { return record(1, when, be(t, 4)); };
  const auto stop = [](std::uint64_t when, std::uint32_t t, std::uint16_t why = 3) {
    return record(2, when, be(t, 4) + be(why, 2) + be(0, 4));
  };
  const auto wake = [](std::uint64_t when, std::uint32_t t) { return record(8, when, be(t, 4) + be(0, 2)); };
  // In the order of time, whatever that of the file is.
  EXPECT_EQ(
      describe(
          read(log(kTypes, in_block(run(2, 1) + create(1, 1) + stop(3, 1) + wake(4, 1)) + kEnd)).violations),
      "");
  const std::string orders[] = {
      run(1, 1),
      create(1, 1) + create(2, 1),
      create(1, 1) + stop(2, 1),
      create(1, 1) + run(2, 1) + run(3, 1),
      create(1, 1) + create(1, 2) + run(2, 1) + run(3, 2),
      create(1, 1) + run(2, 1) + wake(3, 1),
      create(1, 1) + run(2, 1) + stop(3, 1, 5) + run(4, 1),
  };
  for (const std::string& order : orders)
    expect_rule({log(kTypes, in_block(order) + kEnd), Rule::kThreadOrder});
}

// Nothing but a report, whatever the bytes are.
TEST(EventlogReader, BearsEveryCutAndFlip) {
  const std::string whole =
      log(kTypes, in_block(record(0, 1, be(1, 4)) + record(1, 2, be(1, 4))) + variable(19, 3, "text") + kEnd);
  ASSERT_EQ(describe(read(whole).violations), "");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(read(whole.substr(0, i)).violations.empty()) << i;
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      (void)read(damaged);
    }
  }
}

}  // namespace
}  // namespace eventlog_reader
